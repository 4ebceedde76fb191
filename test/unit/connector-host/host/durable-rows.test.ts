import { expect, it } from "vitest";
import { systemWallClock } from "../../../../src/auth-projection/index.js";
import { durableRows, parseDurableRow } from "../../../../src/connector-host/host/durable-rows.js";
import { createMemoryStore } from "../../../../src/store/index.js";

const HASH = "0f".repeat(32);

it("H-20: durable bindings are documents of their own kind; one that can't be read is reported, and stays", async () => {
  const store = createMemoryStore();
  const warned: unknown[] = [];
  const ignore = (): void => undefined;
  const logger = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (_text: string, fields?: object) => void warned.push(fields),
  };
  const rows = durableRows({ store, clock: systemWallClock, logger });
  const [desk, lamp] = [
    { name: "desk", accountId: "ada", bearerHash: HASH },
    { name: "lamp", accountId: undefined, bearerHash: HASH },
  ];
  await rows.put(lamp);
  await rows.put(desk);
  await store.write((tx) => tx.documents.put({ kind: "binding", key: "broken", text: "{", updatedAt: 1 }));
  await store.write((tx) => tx.documents.put({ kind: "other", key: "x", text: "{}", updatedAt: 1 }));
  expect(await rows.list()).toEqual([desk, lamp]);
  expect(warned).toEqual([{ name: "broken" }]);
  await rows.remove("desk");
  await rows.remove("no such name");
  expect((await store.read((tx) => tx.documents.list("binding"))).map(({ key }) => key)).toEqual(["broken", "lamp"]);
});

it.each([
  "null",
  "[]",
  "{}",
  `{"bearerHash":"${HASH.slice(1)}"}`,
  `{"bearerHash":"${HASH.toUpperCase()}"}`,
  `{"bearerHash":"${HASH}","accountId":""}`,
  `{"bearerHash":"${HASH}","accountId":1}`,
])("H-20: %s is no durable binding", (text) => {
  expect(parseDurableRow({ key: "desk", text })).toBeUndefined();
});

it.each([
  ['"agent"', "agent"],
  ['"Agent"', undefined],
  ["true", undefined],
  ["null", undefined],
])("H-32: a durable binding whose row says %s of approvals has %s", (said, approvals) => {
  const text = `{"bearerHash":"${HASH}","approvals":${said}}`;
  expect(parseDurableRow({ key: "desk", text })?.approvals).toBe(approvals);
});
