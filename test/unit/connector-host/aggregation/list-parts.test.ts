import { describe, expect, it } from "vitest";
import { chooseStreams, type StreamCandidate } from "../../../../src/connector-host/aggregation/choose-streams.js";
import { changedList, wantedNews } from "../../../../src/connector-host/aggregation/declared-lists.js";
import { fitListings } from "../../../../src/connector-host/aggregation/fit-listings.js";
import { joinInstructions } from "../../../../src/connector-host/aggregation/join-instructions.js";
import { nameListing } from "../../../../src/connector-host/aggregation/route-listing.js";
import { buildNamespaceTable, createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";

const keysOf = (all: Iterable<{ readonly connectorKey: string }>): string[] =>
  Array.from(all, ({ connectorKey }) => connectorKey).sort();

describe("chooseStreams", () => {
  const of = (connectorKey: string, more: Partial<StreamCandidate> = {}): StreamCandidate => ({
    connectorKey,
    origin: "o",
    calledAt: undefined,
    isOpen: false,
    ...more,
  });

  it("H-25: of each origin as many as it may have, those called last first", () => {
    const all = [
      of("a", { calledAt: 1 }),
      of("b", { calledAt: 0 }),
      of("c"),
      of("d", { calledAt: 2 }),
      of("e", { origin: "p" }),
    ];
    expect(keysOf(chooseStreams(all, 2))).toEqual(["a", "d", "e"]);
    expect(keysOf(chooseStreams(all, 3))).toEqual(["a", "b", "d", "e"]);
  });

  it("H-25: of those that were never called one that is open stays, and what costs no stream is not counted", () => {
    const all = [of("a"), of("b", { isOpen: true }), of("c", { origin: undefined }), of("d", { origin: undefined })];
    expect(keysOf(chooseStreams(all, 1))).toEqual(["b", "c", "d"]);
  });
});

describe("wantedNews", () => {
  const declared = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };

  it.each([
    [["tools"], declared, "modern", { toolsListChanged: true }],
    [["tools", "prompts", "resources"], declared, "modern", { toolsListChanged: true, promptsListChanged: true }],
    [["tools"], { tools: {} }, "modern", undefined],
    [["tools"], undefined, "modern", undefined],
    [["tools", "elicitation"], {}, "legacy", { toolsListChanged: true }],
    [["elicitation"], declared, "legacy", undefined],
  ] as const)("H-25 MB-156: opened for %j, declared %j, %s: %j", (capabilities, said, era, filter) => {
    expect(wantedNews({ capabilities, declared: said, era })).toEqual(filter);
  });

  it("knows the list of a notification", () => {
    const methods = ["notifications/tools/list_changed", "notifications/roots/list_changed", "notifications/message"];
    expect(methods.map(changedList)).toEqual(["tools", undefined, undefined]);
  });
});

describe("fitListings", () => {
  const parts = Object.entries({ a: 5, b: 9, c: 9, d: 1 }).map(([connectorKey, bytes]) => ({
    connectorKey,
    listing: { bytes },
  }));

  it.each([
    [24, ["a", "b", "c", "d"]],
    [23, ["a", "b", "d"]],
    [14, ["a", "d"]],
    [1, ["d"]],
    [0, []],
  ])("H-24: of 24 bytes %d leave %j, the largest and then the later keys going first", (maxBytes, kept) => {
    const fitted = fitListings(parts, maxBytes);
    expect(keysOf(fitted.kept)).toEqual(kept);
    expect(keysOf([...fitted.kept, ...fitted.leftOut])).toEqual(["a", "b", "c", "d"]);
  });
});

describe("nameListing", () => {
  const namespaces = buildNamespaceTable(createInjectiveNaming(), ["a"]);
  const tool = (nativeName: string, more = "") => ({
    nativeName,
    contract: { parameters: [] },
    definition: Buffer.from(`{"name":${JSON.stringify(nativeName)}${more}}`),
  });

  it("H-24: is the same for the same tools in any order, and another for another byte", () => {
    const digests = [
      [tool("x"), tool("y")],
      [tool("y"), tool("x")],
      [tool("x"), tool("y", ',"a":1')],
      [tool("x")],
      [],
    ].map((native) => nameListing(namespaces, "a", native).digest);
    expect(digests[0]).toBe(digests[1]);
    expect(new Set(digests).size).toBe(4);
    expect(digests.at(-1)).toBe("");
  });

  it("H-17 H-24: only the name is another, and everything is counted", () => {
    const listing = nameListing(namespaces, "a", [tool("x", ',"n":9007199254740993')]);
    const definition = '{"name":"a_x","n":9007199254740993}';
    expect([...listing.tools].map(([name, listed]) => [name, listed.nativeName, listed.definition])).toEqual([
      ["a_x", "x", definition],
    ]);
    expect(listing.bytes).toBe(definition.length);
  });
});

describe("joinInstructions", () => {
  const text = (connectorKey: string, words: string) => ({ connectorKey, text: words });

  it("H-36: each has its share, and what has no room is counted", () => {
    const all = [
      text("a", "x".repeat(30)),
      text("b", " \n"),
      text("c", "short\u0000\ttext"),
      text("d", "y".repeat(20)),
    ];
    expect(joinInstructions(all, { perConnector: 20, inAll: 60 })).toBe(
      `# a\n${"x".repeat(14)} [...]\n\n# c\nshort \ttext\n\n+1 more connectors with instructions`,
    );
    expect(joinInstructions([text("b", "")])).toBeUndefined();
  });

  it("H-36: is cut between characters", () => {
    expect(joinInstructions([text("a", `${"x".repeat(13)}😀😀😀😀`)], { perConnector: 20, inAll: 60 })).toBe(
      `# a\n${"x".repeat(13)} [...]`,
    );
  });
});
