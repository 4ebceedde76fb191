import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSnapshot } from "../../../src/auth-projection/parse-snapshot.js";
import {
  type AuthorizationState,
  type Connection,
  type ConnectionState,
  createMemoryState,
} from "../../../src/gateway/index.js";
import { decideChange } from "../../../src/gateway/authorization-state.js";
import type { GatewayConnector } from "../../../src/gateway/options.js";
import { encodeSnapshot } from "../../../src/gateway/snapshot.js";

const at = (
  state: ConnectionState,
  connectionVersion: bigint,
  connectionId = "old",
  others: readonly string[] = [],
): Connection => ({
  state,
  connectionId,
  connectionVersion,
  others,
});

const connector = (connectorId: string, authorization: "account" | "none"): GatewayConnector => ({
  connectorId,
  connectorVersion: "1.0.0",
  authorization,
  upstream: { kind: "stdio", command: "x" },
});

function counter(): () => string {
  let next = 0;
  return () => `id-${String((next += 1))}`;
}

describe("decideChange", () => {
  it.each([
    [{ kind: "grant" }, undefined, at("connected", 1n, "new")],
    [{ kind: "grant" }, at("disconnected", 3n), at("connected", 4n, "new")],
    [{ kind: "grant" }, at("reauth_required", 3n), at("connected", 4n)],
    [{ kind: "grant" }, at("connected", 3n, "old", ["b"]), at("connected", 4n, "old", ["b"])],
    [{ kind: "revoke" }, undefined, undefined],
    [{ kind: "revoke" }, at("disconnected", 3n), undefined],
    [{ kind: "revoke" }, at("reauth_required", 3n), at("disconnected", 3n)],
    [{ kind: "revoke" }, at("connected", 3n, "old", ["b"]), at("disconnected", 3n)],
    [{ kind: "expire" }, undefined, undefined],
    [{ kind: "expire" }, at("disconnected", 3n), undefined],
    [{ kind: "expire" }, at("reauth_required", 3n), undefined],
    [{ kind: "expire" }, at("connected", 3n), at("reauth_required", 3n)],
    [{ kind: "expire", connectionVersion: 3n }, at("connected", 3n), at("reauth_required", 3n)],
    [{ kind: "expire", connectionVersion: 2n }, at("connected", 3n), undefined],
    [{ kind: "add" }, undefined, at("connected", 1n, "new")],
    [{ kind: "add" }, at("disconnected", 3n), at("connected", 4n, "new")],
    [{ kind: "add" }, at("connected", 3n, "old", ["b"]), at("connected", 3n, "old", ["b", "new"])],
    [{ kind: "switch" }, undefined, undefined],
    [{ kind: "switch" }, at("reauth_required", 3n, "old", ["b"]), undefined],
    [{ kind: "switch" }, at("connected", 3n), at("connected", 4n, "new", ["old"])],
    [{ kind: "switch" }, at("connected", 3n, "old", ["b", "c"]), at("connected", 4n, "b", ["c", "old"])],
    [
      { kind: "switch", connectionId: "c" },
      at("connected", 3n, "old", ["b", "c"]),
      at("connected", 4n, "c", ["b", "old"]),
    ],
    [{ kind: "switch", connectionId: "x" }, at("connected", 3n, "old", ["b"]), undefined],
    [{ kind: "switch", connectionId: "old" }, at("connected", 3n, "old", ["b"]), undefined],
  ] as const)("P-2: %o of %o", (change, current, expected) => {
    expect(decideChange(current, change, () => "new")).toEqual(expected);
  });
});

describe("createMemoryState", () => {
  it("P-3: has an epoch of its own, and begins at a revision that is not 0", async () => {
    const [one, two] = [createMemoryState(), createMemoryState()];
    expect(one.epoch).not.toBe(two.epoch);
    expect((await one.read("ada")).revision).toBe(1n);
  });

  it("P-3: keeps accounts apart, and what was read before stays as it was", async () => {
    const state = createMemoryState(counter());
    const before = await state.read("ada");
    await state.change("ada", "files", { kind: "grant" });
    expect(before.connections.size).toBe(0);
    expect((await state.read("bob")).revision).toBe(1n);
    expect((await state.read("ada")).connections.get("files")?.state).toBe("connected");
  });

  it("P-3: the revision rises with every change and never otherwise; versions never fall", async () => {
    const step = fc.tuple(fc.constantFrom("a", "b"), fc.constantFrom("grant", "revoke", "expire", "add", "switch"));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const state = createMemoryState(counter());
        let revision = (await state.read("ada")).revision;
        const versions = new Map<string, bigint>();
        for (const [connectorId, kind] of steps) {
          const before = (await state.read("ada")).connections.get(connectorId);
          const outcome = await state.change("ada", connectorId, { kind });
          expect(outcome.revision).toBe(outcome.changed ? revision + 1n : revision);
          expect(outcome.changed).toBe(outcome.connection !== before);
          const version = outcome.connection?.connectionVersion ?? 0n;
          expect(version).toBeGreaterThanOrEqual(versions.get(connectorId) ?? 0n);
          versions.set(connectorId, version);
          ({ revision } = outcome);
        }
      }),
      { seed: 3, numRuns: 100 },
    );
  });
});

describe("going back", () => {
  const statesOf = async (state: AuthorizationState, accountId: string): Promise<unknown> => {
    const { connections, revision } = await state.read(accountId);
    return [revision, [...connections].map(([connectorId, { state: stands }]) => [connectorId, stands])];
  };

  it("P-3: an account stands as it did, under an epoch of its own, and what came after is forgotten", async () => {
    const state = createMemoryState(counter());
    await state.change("ada", "a", { kind: "grant" });
    await state.change("ada", "a", { kind: "revoke" });
    await state.change("bob", "a", { kind: "grant" });
    expect((await state.readAt("ada", 2n))?.connections.get("a")?.state).toBe("connected");
    expect(await state.restore("ada", 2n)).toBe(true);
    expect(await statesOf(state, "ada")).toEqual([2n, [["a", "connected"]]]);
    const [ada, bob] = [await state.read("ada"), await state.read("bob")];
    expect(ada.epoch).not.toBe(state.epoch);
    expect(bob.epoch).toBe(state.epoch);
    expect(await state.readAt("ada", 3n)).toBeUndefined();
    expect(await state.restore("ada", 3n)).toBe(false);
    expect(await state.read("ada")).toEqual(ada);
    await state.change("ada", "a", { kind: "expire" });
    expect((await state.read("ada")).epoch).toBe(ada.epoch);
  });

  it("P-3: all accounts go back at once, each to what it was at that revision or before", async () => {
    const state = createMemoryState(counter());
    const { epoch } = state;
    for (let i = 0; i < 3; i += 1) await state.change("ada", "a", { kind: "grant" });
    await state.change("bob", "a", { kind: "grant" });
    expect(await state.restore(undefined, 3n)).toBe(true);
    expect([await statesOf(state, "ada"), await statesOf(state, "bob")]).toEqual([
      [3n, [["a", "connected"]]],
      [2n, [["a", "connected"]]],
    ]);
    const epochs = ["ada", "bob", "eve"].map(async (account) => (await state.read(account)).epoch);
    expect(new Set(await Promise.all(epochs))).toEqual(new Set([state.epoch]));
    expect(state.epoch).not.toBe(epoch);
  });

  it("P-3: a reset counts from 1 under a new epoch, and changes no connection", async () => {
    const state = createMemoryState(counter());
    await state.change("ada", "a", { kind: "grant" });
    const before = await state.read("ada");
    await state.resetEpoch("ada");
    const after = await state.read("ada");
    expect([after.revision, after.connections]).toEqual([1n, before.connections]);
    expect(after.epoch).not.toBe(before.epoch);
    await state.resetEpoch(undefined);
    expect((await state.read("ada")).epoch).toBe(state.epoch);
  });

  it("P-3: a hundred revisions are remembered, and no more", async () => {
    const state = createMemoryState(counter());
    for (let i = 0; i < 150; i += 1) await state.change("ada", "a", { kind: "grant" });
    expect((await state.read("ada")).revision).toBe(151n);
    expect(await state.readAt("ada", 51n)).toBeUndefined();
    expect(await state.restore("ada", 51n)).toBe(false);
    expect(await state.restore("ada", 52n)).toBe(true);
  });
});

describe("encodeSnapshot", () => {
  it("P-1: is what the projection reads: numbers as strings, in the order of keys, nothing of what needs no authorization", async () => {
    const state = createMemoryState(counter());
    await state.change("ada", "b", { kind: "grant" });
    await state.change("ada", "c", { kind: "grant" });
    await state.change("ada", "c", { kind: "expire" });
    const body = encodeSnapshot(await state.read("ada"), [
      connector("c", "account"),
      connector("a", "account"),
      connector("free", "none"),
      connector("b", "account"),
    ]);
    expect(JSON.parse(body)).toEqual({
      revision: "4",
      epoch: "id-1",
      connectors: [
        {
          connectorId: "a",
          connectorVersion: "1.0.0",
          state: "disconnected",
          connectionId: null,
          connectionVersion: "0",
        },
        {
          connectorId: "b",
          connectorVersion: "1.0.0",
          state: "connected",
          connectionId: "connection-id-2",
          connectionVersion: "1",
        },
        {
          connectorId: "c",
          connectorVersion: "1.0.0",
          state: "reauth_required",
          connectionId: "connection-id-3",
          connectionVersion: "1",
        },
      ],
    });
    const read = parseSnapshot(Buffer.from(body));
    expect(read.diagnostics).toEqual([]);
    expect(read.revision).toBe(4n);
    expect(read.entries.map(({ connectorKey, state: local }) => [connectorKey, local])).toEqual([
      ["a", "disconnected"],
      ["b", "connected"],
      ["c", "expired"],
    ]);
  });
});
