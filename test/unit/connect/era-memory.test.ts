import { describe, expect, it } from "vitest";
import { createEraMemory, eraKey } from "../../../src/connect/era-memory.js";
import { RemoteConnectorError } from "../../../src/errors.js";

const RECORD = { era: "legacy", decidedAt: 1 } as const;

describe("L-22 the memory of eras", () => {
  it("remembers, and forgets", () => {
    const memory = createEraMemory();
    memory.write("a", RECORD);
    expect(memory.read("a")).toEqual(RECORD);
    memory.forget("a");
    expect(memory.read("a")).toBeUndefined();
  });

  it("forgets the server that was not asked about for the longest time", () => {
    const memory = createEraMemory({ maxServers: 2 });
    memory.write("a", RECORD);
    memory.write("b", RECORD);
    memory.read("a");
    memory.write("c", RECORD);
    expect(["a", "b", "c"].map((key) => memory.read(key) !== undefined)).toEqual([true, false, true]);
  });

  it("keeps what it has when a record is written again", () => {
    const memory = createEraMemory({ maxServers: 2 });
    for (const key of ["a", "b", "b", "b"]) memory.write(key, RECORD);
    expect(memory.read("a")).toEqual(RECORD);
  });

  it("refuses a limit that is none", () => {
    expect(() => createEraMemory({ maxServers: 0 })).toThrow(RemoteConnectorError);
  });

  it("F-6 has keys in which nothing can be read, one for each way to say where and who", () => {
    const keys = [
      ["https://a.example/mcp?key=secret", "ada"],
      ["https://a.example/mcp?key=secret", "bob"],
      ["ab", "c"],
      ["a", "bc"],
    ].map(eraKey);
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[\w-]{43}$/);
  });
});
