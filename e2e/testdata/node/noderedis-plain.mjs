// Works with one server through node-redis.
import assert from "node:assert/strict";
import { createClient } from "redis";

const url = `redis://127.0.0.1:${process.argv[2]}`;
for (const RESP of [2, 3]) {
  const r = await createClient({ url, RESP, name: "plain" }).connect();
  await Promise.all([...Array(200).keys()].map((i) => r.set(`k${i}`, i))); // one pipeline
  assert.deepEqual(await r.mGet(["k1", "k199", "none"]), ["1", "199", null]);
  assert.equal(await r.set("t", "v", { expiration: { type: "PX", value: 50000 }, condition: "NX" }), "OK");
  assert.equal(await r.set("t", "w", { condition: "NX" }), null);
  const left = await r.pTTL("t");
  assert.ok(left > 0 && left <= 50000, `pttl ${left}`);
  assert.equal(await r.append("t", "w"), 2);
  assert.equal(await r.getRange("t", 0, 0), "v");
  assert.equal(await r.incrBy("n", 5), 5);
  assert.equal(await r.clientGetName(), "plain");
  const info = await r.clientInfo();
  assert.equal(info.libName, "node-redis");
  assert.equal(info.resp, RESP);
  await assert.rejects(r.sendCommand(["NOSUCH"]), /ERR unknown command/);

  const found = new Set();
  for await (const keys of r.scanIterator({ MATCH: "k*", COUNT: 50 })) keys.forEach((k) => found.add(k));
  assert.equal(found.size, 200);

  assert.deepEqual(await r.multi().set("a", 1).incr("a").get("a").exec(), ["OK", 2, "2"]);
  const other = await createClient({ url, RESP }).connect();
  await r.watch("a");
  await other.set("a", "changed");
  await assert.rejects(r.multi().set("a", "mine").exec(), /watched keys has been changed/);
  assert.equal(await r.get("a"), "changed");

  const sub = await createClient({ url, RESP }).connect();
  const heard = [];
  await sub.subscribe("news", (text, channel) => heard.push([channel, text]));
  const byPattern = new Promise((done) => sub.pSubscribe("sp*", (text, channel) => done([channel, text])));
  assert.equal(await r.publish("news", "hello"), 1);
  while ((await r.pubSubNumPat()) === 0);
  assert.equal(await r.publish("sport", "goal"), 1);
  assert.deepEqual(await byPattern, ["sport", "goal"]);
  assert.deepEqual(heard, [["news", "hello"]]); // which came before
  await sub.unsubscribe("news");
  assert.equal(await r.publish("news", "nobody"), 0);

  assert.equal(await r.flushAll(), "OK");
  assert.equal(await r.dbSize(), 0);
  for (const c of [r, other, sub]) await c.close();
}
console.log("strings, transactions and messages are right with both protocols");
