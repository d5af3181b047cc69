// Works with a cluster through ioredis's Cluster.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Cluster } from "ioredis";

const nodes = [{ host: "127.0.0.1", port: Number(process.argv[2]) }];
const c = new Cluster(nodes);
await once(c, "ready");
assert.equal(c.nodes("master").length, 3);
for (let i = 0; i < 300; i++) assert.equal(await c.set(`k${i}`, i), "OK");
for (let i = 0; i < 300; i++) assert.equal(await c.get(`k${i}`), String(i));
const sizes = await Promise.all(c.nodes("master").map((n) => n.dbsize()));
assert.equal(sizes.reduce((a, b) => a + b), 300);
assert.ok(sizes.every((n) => n > 50), `sizes ${sizes}`);

assert.equal(await c.mset("{one}a", 1, "{one}b", 2), "OK");
assert.deepEqual(await c.mget("{one}a", "{one}b", "{one}c"), ["1", "2", null]);
await assert.rejects(c.mget("k1", "k2"), /CROSSSLOT/);

const pipe = c.pipeline();
for (let i = 0; i < 100; i++) pipe.incr(`{one}n${i}`);
assert.ok((await pipe.exec()).every(([err, n]) => err === null && n === 1));
assert.deepEqual(await c.multi().incr("{one}a").get("{one}a").exec(), [[null, 2], [null, "2"]]);

// A message is heard whatever the node that each of the two is connected to.
const sub = new Cluster(nodes);
assert.equal(await sub.subscribe("news"), 1);
for (const node of c.nodes("master")) {
  const message = once(sub, "message");
  await node.publish("news", `from ${node.options.port}`);
  assert.deepEqual(await message, ["news", `from ${node.options.port}`]);
}
for (const x of [c, sub]) await x.quit();
console.log("300 keys, pipelines, transactions and messages are right");
