import { describe, expect, it } from "vitest";
import {
  type ActivationIdentity,
  ActivationMemory,
  type CheckedToolList,
} from "../../../../src/connector-host/activation/index.js";

const IDENTITY: ActivationIdentity = {
  accountId: "acc-1",
  connectorKey: "git",
  releaseDigest: "d",
  connectionId: "account-1",
  connectionVersion: 3n,
  serverRevision: 12n,
};

function list(name = "search"): CheckedToolList {
  const tool = { name, inputSchema: { type: "object" } };
  return { tools: new Map([[name, { tool, contract: { parameters: [] } }]]), diagnostics: [] };
}

function memoryOf(login: number, publishedRoutes?: () => number): ActivationMemory {
  const memory = new ActivationMemory(publishedRoutes);
  memory.switchLogin(login);
  return memory;
}

describe("H-10: the activation memory", () => {
  it("finds what it was given, for the whole identity only", () => {
    const memory = memoryOf(0);
    const given = list();
    expect(memory.remember(IDENTITY, 0, given)).toBe(true);
    expect(memory.find({ ...IDENTITY }, 0)).toBe(given);
    const others: Partial<ActivationIdentity>[] = [
      { accountId: "acc-2" },
      { connectorKey: "hub" },
      { releaseDigest: "e" },
      { connectionId: "account-2" },
      { connectionVersion: 4n },
      { serverRevision: 13n },
      { connectionVersion: 31n, serverRevision: 2n },
    ];
    for (const change of others) expect(memory.find({ ...IDENTITY, ...change }, 0)).toBeUndefined();
  });

  it("takes no empty list", () => {
    const memory = memoryOf(1);
    expect(memory.remember(IDENTITY, 1, { tools: new Map(), diagnostics: [] })).toBe(false);
    expect(memory.size).toBe(0);
  });

  it("★ item 20: takes and gives nothing before a login, of another login, or after close", () => {
    const memory = new ActivationMemory();
    expect(memory.remember(IDENTITY, 1, list())).toBe(false);
    memory.switchLogin(1);
    expect(memory.remember(IDENTITY, 1, list())).toBe(true);
    expect(memory.remember(IDENTITY, 2, list("other"))).toBe(false);
    expect(memory.find(IDENTITY, 2)).toBeUndefined();
    memory.switchLogin(1);
    expect(memory.size).toBe(1);
    memory.switchLogin(2);
    expect(memory.size).toBe(0);
    memory.switchLogin(undefined);
    expect(memory.remember(IDENTITY, 2, list())).toBe(false);
    memory.switchLogin(3);
    memory.remember(IDENTITY, 3, list());
    memory.close();
    expect([memory.size, memory.find(IDENTITY, 3), memory.remember(IDENTITY, 3, list())]).toEqual([
      0,
      undefined,
      false,
    ]);
    memory.switchLogin(4);
    expect(memory.remember(IDENTITY, 4, list())).toBe(false);
  });

  it("★ item 20: holds 256 lists, or as many as routes are published; the least recently used goes first", () => {
    let published = 0;
    const memory = memoryOf(1, () => published);
    const at = (index: number): ActivationIdentity => ({ ...IDENTITY, connectorKey: `c${String(index)}` });
    for (let index = 0; index < 256; index += 1) memory.remember(at(index), 1, list());
    expect(memory.find(at(0), 1)).toBeDefined();
    memory.remember(at(256), 1, list());
    expect(memory.size).toBe(256);
    expect(memory.find(at(0), 1)).toBeDefined();
    expect(memory.find(at(1), 1)).toBeUndefined();
    published = 300;
    for (let index = 300; index < 400; index += 1) memory.remember(at(index), 1, list());
    expect(memory.size).toBe(300);
    published = 10;
    memory.remember(at(500), 1, list());
    expect(memory.size).toBe(256);
    memory.remember(at(500), 1, list());
    expect(memory.size).toBe(256);
  });
});
