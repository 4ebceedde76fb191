import { describe, expect, it } from "vitest";
import {
  joinKeySpace,
  type KeySpaceSources,
  parseRegistration,
  parseStdioConnector,
} from "../../../../src/connector-host/registration/index.js";
import { parseRelease } from "../../../../src/connector-host/release/index.js";
import { publishedRelease } from "../release/release.fixture.js";
import { refusedMember } from "./refused-member.js";
import { storedRegistration } from "./registration.fixture.js";

const release = (connectorId: string) => parseRelease(publishedRelease({ connectorId }));
const program = (key: string, capabilities?: readonly string[]) =>
  parseStdioConnector({ key, displayName: key, command: "run", capabilities });
const registration = (slug: string, capabilities?: readonly string[]) =>
  parseRegistration(storedRegistration({ slug, capabilities }));

const sources = {
  releases: [{ place: "catalogue", release: release("tencent-docs") }],
  stdio: [{ place: "host.json: files", connector: program("files") }],
  registrations: [{ place: "docs.json", registration: registration("docs") }],
};

describe("H-4: the one key space", () => {
  it("holds every kind, by key", () => {
    const space = joinKeySpace(sources);
    expect([...space.keys()]).toEqual(["docs", "files", "tencent-docs"]);
    expect([...space.values()].map(({ kind, place }) => [kind, place])).toEqual([
      ["registration", "docs.json"],
      ["stdio", "host.json: files"],
      ["release", "catalogue"],
    ]);
    expect(joinKeySpace({}).size).toBe(0);
  });

  it.each<[string, KeySpaceSources, readonly [string, string]]>([
    [
      "two releases",
      { releases: [...sources.releases, { place: "b", release: release("tencent-docs") }] },
      ["catalogue", "b"],
    ],
    [
      "two programs",
      { stdio: [...sources.stdio, { place: "b", connector: program("files") }] },
      ["host.json: files", "b"],
    ],
    [
      "two registrations",
      { registrations: [{ place: "a", registration: registration("docs") }, ...sources.registrations] },
      ["a", "docs.json"],
    ],
    ["a release and a program", { releases: [{ place: "a", release: release("files") }] }, ["a", "host.json: files"]],
    [
      "a release and a registration",
      { registrations: [{ place: "b", registration: registration("tencent-docs") }] },
      ["catalogue", "b"],
    ],
    [
      "a program and a registration",
      { registrations: [{ place: "b", registration: registration("files") }] },
      ["host.json: files", "b"],
    ],
  ])("refuses one key of %s, and names both places", (_, changes, places) => {
    expect(() => joinKeySpace({ ...sources, ...changes })).toThrow(
      expect.objectContaining({ code: "duplicate_connector", details: expect.objectContaining({ places }) }),
    );
  });
});

describe("H-4: capabilities", () => {
  it("are tools alone, unless more is asked for", () => {
    for (const { capabilities } of joinKeySpace(sources).values()) expect(capabilities).toEqual(["tools"]);
  });

  it("are each opted into, by programs and registrations", () => {
    const all = ["roots", "sampling", "elicitation", "prompts", "resources", "tools"];
    const space = joinKeySpace({
      stdio: [{ place: "a", connector: program("files", all) }],
      registrations: [{ place: "b", registration: registration("docs", ["prompts", "tools"]) }],
    });
    expect(space.get("files")?.capabilities).toEqual(all.toReversed());
    expect(space.get("docs")?.capabilities).toEqual(["tools", "prompts"]);
    expect(refusedMember(() => program("files", ["tools", "tools"]))).toBe("capabilities");
    expect(refusedMember(() => program("files", ["tools", "tasks"]))).toBe("capabilities.1");
    expect(refusedMember(() => registration("docs", []))).toBe("capabilities");
  });

  it("of a release never let its server ask agents", () => {
    const place = "catalogue";
    const opened = joinKeySpace({ releases: [{ place, release: release("a"), capabilities: ["prompts", "tools"] }] });
    expect(opened.get("a")?.capabilities).toEqual(["tools", "prompts"]);
    for (const capability of ["elicitation", "sampling", "roots"]) {
      const one = { place, release: release("a"), capabilities: Object(["tools", capability]) };
      expect(() => joinKeySpace({ releases: [one] })).toThrow(
        expect.objectContaining({
          code: "invalid_options",
          details: expect.objectContaining({ option: "capabilities" }),
        }),
      );
    }
  });
});
