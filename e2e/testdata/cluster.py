"""Works with a cluster through redis-py's RedisCluster, by TLS when an authority
is named."""
import sys
from redis.cluster import RedisCluster

tls = dict(zip(("ssl_ca_certs",), sys.argv[2:]), ssl=len(sys.argv) > 2)
c = RedisCluster(host="127.0.0.1", port=int(sys.argv[1]), **tls)
assert len(c.get_primaries()) == 3, c.get_nodes()

for i in range(1000):
    assert c.set("k%d" % i, i)
for i in range(1000):
    assert c.get("k%d" % i) == b"%d" % i
    assert c.incr("k%d" % i) == i + 1
assert sum(c.dbsize(target_nodes=n) for n in c.get_primaries()) == 1000
assert c.dbsize(target_nodes=RedisCluster.PRIMARIES) == 1000

assert c.mset({"{one}a": "1", "{one}b": "2"})
assert c.mget("{one}a", "{one}b", "{one}c") == [b"1", b"2", None]
assert c.mset_nonatomic({"x": 1, "y": 2, "z": 3})
assert c.mget_nonatomic("x", "y", "z") == [b"1", b"2", b"3"]
assert c.delete("x", "y", "z", "{one}a") == 4

pipe = c.pipeline()
for i in range(1000):
    pipe.incr("n%d" % i)
assert pipe.execute() == [1] * 1000

assert c.keyslot("foo") == c.cluster_keyslot("foo") == 12182
assert len(list(c.scan_iter(match="n*", count=100))) == 1000
assert c.expire("n1", 100) and 0 < c.ttl("n1") <= 100
assert c.cluster_info(target_nodes=RedisCluster.RANDOM)["cluster_state"] == "ok"
assert len(c.cluster_nodes()) == 3
print("3000 keys, pipelines and scans are right")
