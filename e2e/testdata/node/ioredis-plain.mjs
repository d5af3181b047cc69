// Works with one server through ioredis.
import assert from "node:assert/strict";
import { once } from "node:events";
import Redis from "ioredis";

const port = Number(process.argv[2]);
const r = new Redis(port, { connectionName: "plain" });
for (let i = 0; i < 200; i++) assert.equal(await r.set(`k${i}`, i), "OK");
assert.deepEqual(await r.mget("k1", "k199", "none"), ["1", "199", null]);
assert.equal(await r.set("t", "v", "PX", 50000, "NX"), "OK");
assert.equal(await r.set("t", "w", "NX"), null);
const left = await r.pttl("t");
assert.ok(left > 0 && left <= 50000, `pttl ${left}`);
assert.equal(await r.append("t", "w"), 2);
assert.equal(await r.incrbyfloat("f", 1.5), "1.5");
assert.deepEqual(await r.getBuffer("t"), Buffer.from("vw"));
assert.equal(await r.client("GETNAME"), "plain");
await assert.rejects(r.call("NOSUCH"), /ERR unknown command/);

const pipe = r.pipeline();
for (let i = 0; i < 200; i++) pipe.incrby(`k${i}`, 2);
assert.deepEqual((await pipe.exec()).map(([err, n]) => err ?? n), [...Array(200).keys()].map((i) => i + 2));

const found = new Set();
for await (const keys of r.scanStream({ match: "k*", count: 50 })) keys.forEach((k) => found.add(k));
assert.equal(found.size, 200);

assert.deepEqual(await r.multi().set("a", 1).incr("a").get("a").exec(), [[null, "OK"], [null, 2], [null, "2"]]);
const other = new Redis(port);
await r.watch("a");
await other.set("a", "changed");
assert.equal(await r.multi().set("a", "mine").exec(), null);
assert.equal(await r.get("a"), "changed");
await assert.rejects(r.multi().set("a", 1).call("NOSUCH").exec(), /EXECABORT/);

const sub = new Redis(port);
assert.equal(await sub.subscribe("news", "sport"), 2);
assert.equal(await sub.psubscribe("n?ws"), 3);
const message = once(sub, "message");
const byPattern = once(sub, "pmessage");
assert.equal(await r.publish("news", "hello"), 2);
assert.deepEqual(await message, ["news", "hello"]);
assert.deepEqual(await byPattern, ["n?ws", "news", "hello"]);
assert.equal(await sub.unsubscribe("news"), 2);

assert.equal(await r.flushall(), "OK");
assert.equal(await r.dbsize(), 0);
for (const c of [r, other, sub]) await c.quit();
console.log("strings, pipelines, transactions and messages are right");
