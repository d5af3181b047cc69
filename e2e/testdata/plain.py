"""Works with one server through redis-py's Redis, by TLS when an authority, a
certificate and its key are named."""
import sys
import redis

tls = dict(zip(("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"), sys.argv[2:]), ssl=len(sys.argv) > 2)
r = redis.Redis(port=int(sys.argv[1]), decode_responses=True, client_name="plain", **tls)
assert r.ping()
for i in range(1000):
    r.set("k%d" % i, i)
assert r.mget("k1", "k999", "none") == ["1", "999", None]
p = r.pipeline(transaction=False)
for i in range(1000):
    p.incrby("k%d" % i, 2)
assert p.execute() == [i + 2 for i in range(1000)]
assert r.dbsize() == 1000 and len(set(r.scan_iter(count=50))) == 1000
assert r.set("t", "v", px=50000, nx=True) and 0 < r.pttl("t") <= 50000
assert r.append("t", "w") == 2 and r.strlen("t") == 2
assert r.client_getname() == "plain"
assert r.info("server")["redis_mode"] == "standalone"
try:
    r.execute_command("NOSUCH")
except redis.ResponseError as e:
    assert "unknown command" in str(e), e
else:
    raise AssertionError("NOSUCH was answered")
other = redis.Redis(port=int(sys.argv[1]), db=3, **tls)
assert other.set("only-here", 1) and r.get("only-here") is None
assert r.flushall() and r.dbsize() == 0 and other.dbsize() == 0
print("1000 keys, pipelines, expiry and databases are right")
