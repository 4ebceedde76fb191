import { describe, expect, it } from "vitest";
import { loadHostId, parseHostId } from "../../../../src/connector-host/host/host-identity.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { createMemoryStore } from "../../../../src/store/index.js";

function configOf(told: unknown[] = []) {
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void told.push(message) };
  return { logger, mintId: () => crypto.randomUUID(), wallClock: { now: () => 0, schedule: () => () => undefined } };
}

const put = (text: string) => ({ kind: "host", key: "identity", text, updatedAt: 0 });

describe("H-27: what tells a host from others", () => {
  it("is the same for all processes on one store, and another for each store", async () => {
    const store = createMemoryStore();
    const first = await loadHostId(configOf(), store);
    expect(await loadHostId(configOf(), store)).toBe(first);
    expect(await loadHostId(configOf(), createMemoryStore())).not.toBe(first);
    expect(first).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it.each(["{", "[]", "{}", '{"hostId":""}', '{"hostId":"a.b"}'])(
    "is made anew where it can't be read: %s",
    async (text) => {
      expect(parseHostId(text)).toBeUndefined();
      const store = createMemoryStore();
      await store.write((tx) => tx.documents.put(put(text)));
      const told: unknown[] = [];
      const made = await loadHostId(configOf(told), store);
      expect(told).toHaveLength(1);
      expect(await loadHostId(configOf(), store)).toBe(made);
    },
  );

  it("is good for the process where the disk is full; what else fails does fail", async () => {
    const store = createMemoryStore();
    const failing = (error: unknown) => ({
      ...store,
      read: store.read.bind(store),
      write: async () => {
        throw error;
      },
    });
    const full = new RemoteConnectorError("store_full", { message: "full", details: { path: "p" } });
    const told: unknown[] = [];
    expect(await loadHostId(configOf(told), failing(full))).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(told).toHaveLength(1);
    const broken = new Error("broken");
    await expect(loadHostId(configOf(), failing(broken))).rejects.toBe(broken);
  });
});
