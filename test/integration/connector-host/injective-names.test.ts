import { describe, expect, it } from "vitest";
import {
  buildNamespaceTable,
  buildNameTable,
  createInjectiveNaming,
  findNativeName,
  type NamingPolicy,
  type ToolIdentity,
} from "../../../src/connector-host/naming/index.js";
import { Chance } from "../../chaos/chance.js";
import { HostileNames } from "./hostile-names.js";

const SEED = 1_017;
const PAIRS = 1_000_000;
const SHAPE = /^[a-z][a-z0-9-]{0,23}_[A-Za-z0-9_-]+$/;

function nameOf(policy: NamingPolicy, key: string, native: string): string {
  const name = policy.exposedName(key, native);
  if (name === undefined) throw new Error(`no name for ${JSON.stringify([key, native])}, seed ${String(SEED)}`);
  return name;
}

/** Differs for different pairs. */
function identity(key: string, native: string): string {
  return `${String(key.length)}:${key}${native}`;
}

/** Why a name is not what H-17 says of it; `undefined` for one that is. */
function faultOf(policy: NamingPolicy, key: string, name: string): string | undefined {
  if (name.length > 48) return "is too long";
  if (!SHAPE.test(name)) return "has another shape";
  const split = policy.parse(name);
  const end = name.indexOf("_");
  if (split?.namespace !== policy.namespace(key)) return "leads elsewhere";
  return split.namespace.length === end && split.rest === name.slice(end + 1) ? undefined : "is split elsewhere";
}

describe(`H-17: names of hostile pairs (seed ${String(SEED)})`, () => {
  it("are 1,000,000 for 1,000,000 pairs, within the length, each leading back to its connector", () => {
    const policy = createInjectiveNaming();
    const source = new HostileNames(SEED);
    const owners = new Map<string, string>();
    const kinds = { plain: 0, markedKey: 0, markedTool: 0 };
    while (owners.size < PAIRS) {
      const [key, native] = source.next();
      const name = nameOf(policy, key, native);
      const pair = identity(key, native);
      const owner = owners.get(name);
      if (owner === pair) continue;
      const fault = owner === undefined ? faultOf(policy, key, name) : `is that of ${JSON.stringify(owner)}`;
      if (fault !== undefined) {
        throw new Error(`${name}, for ${JSON.stringify([key, native])}, ${fault}; seed ${String(SEED)}`);
      }
      owners.set(name, pair);
      source.learn(name);
      if (name === `${key}_${native}`) kinds.plain += 1;
      if (!name.startsWith(`${key}_`)) kinds.markedKey += 1;
      if (!name.endsWith(`_${native}`)) kinds.markedTool += 1;
    }
    expect(owners.size).toBe(PAIRS);
    // The pairs are no easy ones: each way of naming had its share.
    expect(Math.min(...Object.values(kinds))).toBeGreaterThan(PAIRS / 100);
  }, 120_000);

  it("do not depend on order or on what else there is, and a call finds what a list shows", () => {
    const policy = createInjectiveNaming();
    const source = new HostileNames(SEED + 1);
    const chance = new Chance("order", SEED);
    for (let round = 0; round < 25; round += 1) {
      const entries = new Map<string, ToolIdentity>();
      const natives = new Map<string, string[]>();
      while (entries.size < 2_000) {
        const [connectorKey, nativeName] = source.next();
        const pair = identity(connectorKey, nativeName);
        if (entries.has(pair)) continue;
        entries.set(pair, { connectorKey, nativeName });
        const known = natives.get(connectorKey);
        if (known === undefined) natives.set(connectorKey, [nativeName]);
        else known.push(nativeName);
        source.learn(nameOf(policy, connectorKey, nativeName));
      }
      const all = [...entries.values()];
      const namespaces = buildNamespaceTable(policy, natives.keys());
      const table = buildNameTable(namespaces, all);
      expect([...namespaces.diagnostics, ...table.diagnostics]).toEqual([]);
      expect(table.entries.size).toBe(all.length);
      for (const [name, { connectorKey, nativeName }] of table.entries) {
        const found = findNativeName(namespaces, name, natives.get(connectorKey) ?? []);
        if (found.kind !== "found" || found.nativeName !== nativeName) throw new Error(`${name} is not found`);
      }
      // A part of it, in another order, with a policy that saw nothing else.
      const fresh = createInjectiveNaming();
      const part = chance.shuffle(all).slice(0, 1_000);
      const other = buildNameTable(buildNamespaceTable(fresh, chance.shuffle([...natives.keys()])), part);
      expect(other.entries.size).toBe(part.length);
      for (const [name, entry] of other.entries) {
        if (table.entries.get(name) !== entry) throw new Error(`${name} was another tool's`);
      }
    }
  }, 120_000);
});
