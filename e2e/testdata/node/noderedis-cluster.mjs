// Works with a cluster through node-redis's cluster client.
import assert from "node:assert/strict";
import { createCluster } from "redis";

const rootNodes = [{ url: `redis://127.0.0.1:${process.argv[2]}` }];
const c = createCluster({ rootNodes });
await c.connect();
assert.equal(c.masters.length, 3);
for (let i = 0; i < 300; i++) assert.equal(await c.set(`k${i}`, i), "OK");
for (let i = 0; i < 300; i++) assert.equal(await c.get(`k${i}`), String(i));
let keys = 0;
for (const m of c.masters) keys += await (await c.nodeClient(m)).dbSize();
assert.equal(keys, 300);

assert.equal(await c.mSet({ "{one}a": "1", "{one}b": "2" }), "OK");
assert.deepEqual(await c.mGet(["{one}a", "{one}b", "{one}c"]), ["1", "2", null]);
await assert.rejects(c.mGet(["k1", "k2"]), /CROSSSLOT/);
assert.deepEqual(await c.multi().incr("{one}a").get("{one}a").exec(), [2, "2"]);

const heard = [];
let more;
await c.subscribe("news", (text) => { heard.push(text); more?.(); });
for (const [i, m] of c.masters.entries()) {
  await (await c.nodeClient(m)).publish("news", String(i));
  while (heard.length <= i) await new Promise((done) => { more = done; });
}
assert.deepEqual(heard, ["0", "1", "2"]);
const sharded = new Promise((done) => c.sSubscribe("{one}shard", done).then(() => c.sPublish("{one}shard", "hello")));
assert.equal(await sharded, "hello");
await c.close();
console.log("300 keys, transactions and messages are right");
