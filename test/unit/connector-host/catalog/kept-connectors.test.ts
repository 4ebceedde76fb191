import { afterEach, describe, expect, it } from "vitest";
import { readKept, writeRelease, writeSwitch } from "../../../../src/connector-host/catalog/index.js";
import { createMemoryStore } from "../../../../src/store/index.js";
import { releaseEntryOf } from "../../../support/release-entries.js";
import { releaseOf } from "../../../support/releases.js";

const store = createMemoryStore();
const entry = releaseEntryOf("a");
const put = (key: string, text: string, kind = "release") =>
  store.write((tx) => tx.documents.put({ kind, key, text, updatedAt: 1 }));

describe("what is kept of connectors", () => {
  afterEach(() =>
    store.write(async (tx) => {
      for (const kind of ["release", "switch"]) {
        for (const { key } of await tx.documents.list(kind)) await tx.documents.remove(kind, key);
      }
    }),
  );

  it("H-1, H-11: is read as it was written", async () => {
    await store.write(async (tx) => {
      await writeRelease(tx, "a", { ...entry, candidate: entry.current, declaredDigest: "d", isLeaving: true }, 7);
      await writeRelease(tx, "b", { ...entry, key: "b" }, 7);
      await writeRelease(tx, "b", undefined, 8);
      await writeSwitch(tx, "a", false, 7);
      await writeSwitch(tx, "b", false, 7);
      await writeSwitch(tx, "b", true, 8);
    });
    const { releases, off } = await store.read(readKept);
    const { key, current, capabilities } = entry;
    const expected = { key, current, candidate: current, declaredDigest: "d", capabilities, isLeaving: true };
    expect(releases).toEqual([expected]);
    expect([...off]).toEqual(["a"]);
  });

  it.each([
    ["no JSON", "{"],
    [
      "a later format",
      JSON.stringify({ formatVersion: 2, current: releaseOf("a"), capabilities: [], isLeaving: false }),
    ],
    ["a member that is not known", JSON.stringify({ ...valid(), more: 1 })],
    ["no release", JSON.stringify({ ...valid(), current: 7 })],
    ["a release of another key", JSON.stringify({ ...valid(), current: releaseOf("b") })],
    ["a release with an endpoint", JSON.stringify({ ...valid(), current: releaseOf("a", { endpoint: "x" }) })],
  ])("H-1: a release that is %s has its key, and nothing that runs", async (_what, text) => {
    await put("a", text);
    const { releases } = await store.read(readKept);
    expect(releases).toMatchObject([{ key: "a", current: undefined, candidate: undefined }]);
  });

  it("H-1, H-11: one release that can't be read does not hide the other; a switch that can't be read is off", async () => {
    await put("a", JSON.stringify({ ...valid(), current: 7, candidate: releaseOf("a") }));
    await put("b", "{", "switch");
    const { releases, off } = await store.read(readKept);
    expect(releases).toMatchObject([{ current: undefined, candidate: { digest: entry.current?.digest } }]);
    expect([...off]).toEqual(["b"]);
  });
});

function valid(): object {
  return { formatVersion: 1, current: releaseOf("a"), capabilities: ["tools"], isLeaving: false };
}
