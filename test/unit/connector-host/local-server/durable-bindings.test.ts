import { describe, expect, it } from "vitest";
import {
  createMemoryBindingRows,
  type DurableBindingRows,
  DurableBindings,
} from "../../../../src/connector-host/local-server/durable-bindings.js";
import type { Binding } from "../../../../src/connector-host/local-server/ports.js";

interface Party {
  readonly bindings: DurableBindings;
  readonly rows: DurableBindingRows;
  readonly ended: Binding[];
}

async function load(rows = createMemoryBindingRows(), maxDurableBindings = 64): Promise<Party> {
  let count = 0;
  const ended: Binding[] = [];
  const bindings = await DurableBindings.load({
    rows,
    maxDurableBindings,
    randomBytes: (size) => Buffer.alloc(size, (count += 1)),
    onEnd: (binding) => ended.push(binding),
  });
  return { bindings, rows, ended };
}

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

describe("H-20: durable bindings", () => {
  it("stand for their name and account, with a bearer of which only the hash is kept", async () => {
    const { bindings, rows } = await load();
    const { binding, token } = await bindings.bind({ name: "desk", accountId: "ada" });
    expect(binding).toEqual({
      workspaceId: "durable",
      agentSessionId: "desk",
      invocation: undefined,
      login: undefined,
      durable: { name: "desk", accountId: "ada" },
    });
    expect(bindings.match(bearer(token))).toBe(binding);
    expect(bindings.match(bearer(`${token}x`))).toBeUndefined();
    expect(bindings.named("desk")).toBe(binding);
    const [row] = await rows.list();
    expect(row).toEqual({
      name: "desk",
      accountId: "ada",
      bearerHash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
  });

  it("are read back, each with the bearer that it had", async () => {
    const { bindings, rows } = await load();
    const { token } = await bindings.bind({ name: "b" });
    await bindings.bind({ name: "a", accountId: "ada" });
    const again = (await load(rows)).bindings;
    expect(again.list()).toEqual([
      { name: "a", accountId: "ada" },
      { name: "b", accountId: undefined },
    ]);
    expect(again.match(bearer(token))?.durable).toEqual({ name: "b", accountId: undefined });
  });

  it("H-32: vouch for their agents by one word alone, also when they are read back", async () => {
    const { bindings, rows } = await load();
    await bindings.bind({ name: "desk", approvals: "agent" });
    await bindings.bind(Object({ name: "lamp", approvals: "yes" }));
    const listed = [{ name: "desk", approvals: "agent" }, { name: "lamp" }];
    expect(bindings.list()).toEqual(listed);
    expect(await rows.list()).toMatchObject([{ approvals: "agent" }, { name: "lamp" }]);
    const again = (await load(rows)).bindings;
    expect(again.list()).toEqual(listed);
    expect([again.named("desk")?.approvals, again.named("lamp")?.approvals]).toEqual(["agent", undefined]);
    expect(Object.isFrozen(again.named("desk"))).toBe(true);
    await again.bind({ name: "desk" });
    expect(again.named("desk")).not.toHaveProperty("approvals");
  });

  it("end when their name is bound again or revoked, and not otherwise", async () => {
    const { bindings, rows, ended } = await load();
    const first = await bindings.bind({ name: "desk" });
    const second = await bindings.bind({ name: "desk", accountId: "ada" });
    expect(ended).toEqual([first.binding]);
    expect(bindings.match(bearer(first.token))).toBeUndefined();
    expect(bindings.match(bearer(second.token))).toBe(second.binding);
    expect(await bindings.revoke("desk")).toBe(true);
    expect(await bindings.revoke("desk")).toBe(false);
    expect(ended).toEqual([first.binding, second.binding]);
    expect(bindings.match(bearer(second.token))).toBeUndefined();
    expect(bindings.named("desk")).toBeUndefined();
    expect(await rows.list()).toEqual([]);
  });

  it.each(["", "A", "-a", "a-", "a b", "a/b", "ä", `a${"b".repeat(64)}`])("refuse the name %j", async (name) => {
    const { bindings } = await load();
    await expect(bindings.bind({ name })).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument: "name" },
    });
    expect(bindings.list()).toEqual([]);
  });

  it("take names of 64 characters, and no empty account", async () => {
    const { bindings } = await load();
    await bindings.bind({ name: `a${"._-".repeat(20)}bcd` });
    await expect(bindings.bind({ name: "b", accountId: "" })).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument: "accountId" },
    });
  });

  it("H-16: are at most as many as the option says, which names bound again don't count against", async () => {
    const { bindings } = await load(undefined, 2);
    await bindings.bind({ name: "a" });
    await bindings.bind({ name: "b" });
    await expect(bindings.bind({ name: "c" })).rejects.toMatchObject({
      code: "limit_exceeded",
      details: { option: "maxDurableBindings", limit: 2 },
    });
    await bindings.bind({ name: "b" });
    await bindings.revoke("a");
    await bindings.bind({ name: "c" });
  });

  it("keep their bearer when a new one can't be written, and lose it at once when they are revoked", async () => {
    const full = new Error("full");
    let fail: () => void = () => undefined;
    const writing = new Promise<never>((_resolve, reject) => (fail = () => reject(full)));
    const memory = createMemoryBindingRows();
    let isFull = false;
    const rows: DurableBindingRows = {
      ...memory,
      put: (row) => (isFull ? Promise.reject(full) : memory.put(row)),
      remove: () => writing,
    };
    const { bindings } = await load(rows);
    const { token, binding } = await bindings.bind({ name: "desk" });
    isFull = true;
    await expect(bindings.bind({ name: "desk" })).rejects.toBe(full);
    expect(bindings.match(bearer(token))).toBe(binding);
    const revoking = bindings.revoke("desk");
    const refused = expect(revoking).rejects.toBe(full);
    await Promise.resolve();
    expect(bindings.match(bearer(token))).toBeUndefined();
    fail();
    await refused;
  });

  it("that are bound at the same time are bound one after the other", async () => {
    const { bindings, ended } = await load();
    const both = await Promise.all([bindings.bind({ name: "desk" }), bindings.bind({ name: "desk" })]);
    expect(ended).toEqual([both[0].binding]);
    expect(bindings.match(bearer(both[1].token))).toBe(both[1].binding);
  });
});
