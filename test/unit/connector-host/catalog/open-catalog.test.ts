import { describe, expect, it } from "vitest";
import {
  declareConnectors,
  type DeclaredConnectors,
  installedRelease,
  type KeptConnectors,
  openCatalog,
  type ReleaseEntry,
} from "../../../../src/connector-host/catalog/index.js";
import { releaseOf } from "../../../support/releases.js";

const NOTHING: KeptConnectors = { releases: [], off: new Set() };
const [v1, v2, v3] = ["1.0.0", "2.0.0", "3.0.0"].map((version) => releaseOf("a", { version }));

function declared(...releases: readonly unknown[]): DeclaredConnectors {
  return declareConnectors({ releases, registrations: [], stdio: [], capabilities: {}, policy: {} });
}

/** What is kept of `a`, and of which release of the configuration it was made. */
function kept(current: unknown, candidate?: unknown, from?: unknown): KeptConnectors {
  const digestOf = (release: unknown) => (release === undefined ? undefined : installedRelease(release).digest);
  const entry: KeptConnectors["releases"][number] = {
    key: "a",
    current: current === undefined ? undefined : installedRelease(current),
    candidate: candidate === undefined ? undefined : installedRelease(candidate),
    declaredDigest: digestOf(from),
    capabilities: ["tools"],
    isLeaving: false,
  };
  return { releases: [entry], off: new Set() };
}

function versions(of: DeclaredConnectors, store: KeptConnectors): readonly unknown[] {
  const entry = openCatalog(of, store).get("a");
  if (entry?.kind !== "release") return [];
  return [entry.current, entry.candidate].map((installed) => installed?.release.version);
}

describe("openCatalog", () => {
  it.each<[string, DeclaredConnectors, KeptConnectors, readonly unknown[]]>([
    ["what the configuration has", declared(v1), NOTHING, ["1.0.0", undefined]],
    ["what was installed", declared(), kept(v1, v2), ["1.0.0", "2.0.0"]],
    ["an update under way, of the configuration's", declared(v1), kept(v1, v2, v1), ["1.0.0", "2.0.0"]],
    ["an update that is over, of the configuration's", declared(v1), kept(v2, undefined, v1), ["2.0.0", undefined]],
    ["a new version in the configuration", declared(v3), kept(v2, undefined, v1), ["2.0.0", "3.0.0"]],
    ["the version that was updated to, in the configuration", declared(v2), kept(v2, v3, v1), ["2.0.0", "3.0.0"]],
    ["the configuration's, of one that can't be read", declared(v1), kept(undefined), ["1.0.0", undefined]],
    ["nothing, of one that can't be read", declared(), kept(undefined), [undefined, undefined]],
  ])("H-1: a start has %s", (_what, of, store, expected) => expect(versions(of, store)).toEqual(expected));

  it("H-1, H-11: what was leaving is gone, and switches are kept by key", () => {
    const [row] = kept(v1).releases;
    if (row === undefined) throw new Error("no row");
    expect(openCatalog(declared(), { releases: [{ ...row, isLeaving: true }], off: new Set() }).keys).toEqual([]);
    const off = new Set(["a", "gone"]);
    expect(openCatalog(declared(v1), { releases: [], off }).get("a")?.isOn).toBe(false);
    expect(openCatalog(declared(), { releases: [row], off }).get("a")?.isOn).toBe(false);
  });
});

describe("declareConnectors", () => {
  const server = { slug: "docs", displayName: "Docs", settings: { endpoint: "https://docs.test/mcp" } };
  const program = { key: "files", displayName: "Files", command: "files" };
  const declarations = { releases: [v1], registrations: [server], stdio: [program], capabilities: {}, policy: {} };

  it("H-3, H-4: reads all kinds; an id is always the same one for its slug", () => {
    const { releases, device } = declareConnectors({ ...declarations, capabilities: { a: ["prompts", "tools"] } });
    expect(releases.map(({ capabilities }: ReleaseEntry) => capabilities)).toEqual([["tools", "prompts"]]);
    expect(device.map(({ key, kind, capabilities }) => [key, kind, capabilities])).toEqual([
      ["docs", "registration", ["tools"]],
      ["files", "stdio", ["tools"]],
    ]);
    const ids = [server, server, { ...server, slug: "other" }].map((each) => {
      const [entry] = declareConnectors({ ...declarations, registrations: [each] }).device;
      return entry?.connector.kind === "registration" ? entry.connector.registration.id : "";
    });
    expect(new Set(ids).size).toBe(2);
  });

  it("H-1, H-3, H-4: names what is refused", () => {
    const { slug: _slug, ...nameless } = server;
    for (const [changes, error] of [
      [{ releases: [releaseOf("a", { endpoint: "https://x.test" })] }, { code: "invalid_release" }],
      [
        { registrations: [nameless] },
        { code: "invalid_registration", details: expect.objectContaining({ member: "slug" }) },
      ],
      [{ stdio: [{ ...program, command: "./files" }] }, { code: "invalid_registration" }],
      [{ capabilities: { a: [] } }, { code: "invalid_options" }],
    ] as const) {
      expect(() => declareConnectors({ ...declarations, ...changes })).toThrow(expect.objectContaining(error));
    }
    const twice = declareConnectors({ ...declarations, stdio: [{ ...program, key: "docs" }] });
    const duplicate = { code: "duplicate_connector", details: expect.objectContaining({ connectorKey: "docs" }) };
    expect(() => openCatalog(twice, NOTHING)).toThrow(expect.objectContaining(duplicate));
  });
});
