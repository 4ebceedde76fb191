import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSnapshot } from "../../../src/auth-projection/parse-snapshot.js";
import { type Connection, type ConnectionState, createMemoryState } from "../../../src/gateway/index.js";
import { decideChange } from "../../../src/gateway/authorization-state.js";
import type { GatewayConnector } from "../../../src/gateway/options.js";
import { encodeSnapshot } from "../../../src/gateway/snapshot.js";

const at = (state: ConnectionState, connectionVersion: bigint, connectionId = "old"): Connection => ({
  state,
  connectionId,
  connectionVersion,
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
    ["grant", undefined, at("connected", 1n, "new")],
    ["grant", at("disconnected", 3n), at("connected", 4n, "new")],
    ["grant", at("reauth_required", 3n), at("connected", 4n)],
    ["grant", at("connected", 3n), at("connected", 4n)],
    ["revoke", undefined, undefined],
    ["revoke", at("disconnected", 3n), undefined],
    ["revoke", at("reauth_required", 3n), at("disconnected", 3n)],
    ["revoke", at("connected", 3n), at("disconnected", 3n)],
    ["expire", undefined, undefined],
    ["expire", at("disconnected", 3n), undefined],
    ["expire", at("reauth_required", 3n), undefined],
    ["expire", at("connected", 3n), at("reauth_required", 3n)],
  ] as const)("P-2: %s of %o", (change, current, expected) => {
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
    await state.change("ada", "files", "grant");
    expect(before.connections.size).toBe(0);
    expect((await state.read("bob")).revision).toBe(1n);
    expect((await state.read("ada")).connections.get("files")?.state).toBe("connected");
  });

  it("P-3: the revision rises with every change and never otherwise; versions never fall", async () => {
    const step = fc.tuple(fc.constantFrom("a", "b"), fc.constantFrom("grant", "revoke", "expire"));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const state = createMemoryState(counter());
        let revision = (await state.read("ada")).revision;
        const versions = new Map<string, bigint>();
        for (const [connectorId, change] of steps) {
          const before = (await state.read("ada")).connections.get(connectorId);
          const outcome = await state.change("ada", connectorId, change);
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

describe("encodeSnapshot", () => {
  it("P-1: is what the projection reads: numbers as strings, in the order of keys, nothing of what needs no authorization", async () => {
    const state = createMemoryState(counter());
    await state.change("ada", "b", "grant");
    await state.change("ada", "c", "grant");
    await state.change("ada", "c", "expire");
    const body = encodeSnapshot(state.epoch, await state.read("ada"), [
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
