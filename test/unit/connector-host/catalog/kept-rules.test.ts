import { afterEach, describe, expect, it } from "vitest";
import {
  deviceEntry,
  type KeptRules,
  readRules,
  ruledSubject,
  writeRules,
} from "../../../../src/connector-host/catalog/index.js";
import { tableFrom, type ToolPermission } from "../../../../src/connector-host/registration/index.js";
import { createMemoryStore } from "../../../../src/store/index.js";
import { program, server } from "../../../support/device.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const store = createMemoryStore();
const put = (key: string, text: string) =>
  store.write((tx) => tx.documents.put({ kind: "rules", key, text, updatedAt: 1 }));
const kept: KeptRules = {
  subject: "release",
  newTools: undefined,
  permissions: tableFrom<ToolPermission>([
    ["__proto__", "ask"],
    ["read", "off"],
  ]),
};

describe("what is kept of rules", () => {
  afterEach(() =>
    store.write(async (tx) => {
      for (const { key } of await tx.documents.list("rules")) await tx.documents.remove("rules", key);
    }),
  );

  it("H-31: is read as it was written", async () => {
    const others: KeptRules = { subject: "program", newTools: "ask", permissions: tableFrom<ToolPermission>([]) };
    await store.write(async (tx) => {
      await writeRules(tx, "a", kept, 7);
      await writeRules(tx, "b", others, 7);
      await writeRules(tx, "c", others, 7);
      await writeRules(tx, "c", undefined, 8);
    });
    const read = await store.read(readRules);
    expect([...read]).toEqual([
      ["a", kept],
      ["b", others],
    ]);
    expect(Object.hasOwn(read.get("a")?.permissions ?? {}, "__proto__")).toBe(true);
  });

  it.each([
    ["no JSON", "{"],
    ["a later format", JSON.stringify({ formatVersion: 2, subject: "release", permissions: {} })],
    ["a member that is not known", JSON.stringify({ formatVersion: 1, subject: "release", permissions: {}, more: 1 })],
    ["no permission", JSON.stringify({ formatVersion: 1, subject: "release", permissions: { read: "yes" } })],
    ["a name that no tool has", JSON.stringify({ formatVersion: 1, subject: "release", permissions: { "": "off" } })],
  ])("H-31: %s is told from nothing", async (_what, text) => {
    await put("a", text);
    const read = await store.read(readRules);
    expect([read.has("a"), read.get("a"), read.has("b")]).toEqual([true, undefined, false]);
  });

  it("H-3: a decision is about a release, a program, or a server at its origin", () => {
    const subjects = [
      releaseEntryOf("a"),
      deviceEntry(program(["x"]), "here"),
      deviceEntry(server("https://docs.example/mcp?team=1"), "here"),
    ].map(ruledSubject);
    expect(subjects).toEqual(["release", "program", "server https://docs.example"]);
  });
});
