import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  loadRegistrations,
  parseRegistration,
  readRegistration,
  registrationFileName,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { ID, storedRegistration, withMember } from "./registration.fixture.js";

const OTHER_ID = "7c0f7a52-7c0e-4b3e-8a6c-0f1f0a2b3c4d";
const fileOf = (changes: Readonly<Record<string, unknown>> = {}, file?: string) => {
  const registration = parseRegistration(storedRegistration(changes));
  return { file: file ?? registrationFileName(registration), text: writeRegistration(registration) };
};

describe("H-3: the file of a registration", () => {
  it("is written one way only", () => {
    const registration = parseRegistration({
      settings: { headers: { b: "2", a: "1" }, endpoint: "https://docs.example" },
      permissions: { b: "ask", a: "off" },
      slug: "docs",
      displayName: "Docs",
      id: ID,
    });
    expect(writeRegistration(registration)).toBe(`{
  "formatVersion": 1,
  "id": "${ID}",
  "slug": "docs",
  "displayName": "Docs",
  "settings": {
    "endpoint": "https://docs.example/",
    "headers": {
      "a": "1",
      "b": "2"
    },
    "protocol": "auto"
  },
  "deadlines": {},
  "state": "paused",
  "capabilities": [
    "tools"
  ],
  "newTools": "off",
  "permissions": {
    "a": "off",
    "b": "ask"
  },
  "descriptions": {}
}
`);
  });

  it("gives back what was written", () => {
    const names = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "10", "9", "a.b"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    );
    const text = fc.string({ unit: "grapheme", maxLength: 20 });
    const table = (value: fc.Arbitrary<unknown>) =>
      fc.array(fc.tuple(names, value), { maxLength: 5 }).map((entries) => {
        let made: object = {};
        for (const [name, each] of new Map(entries)) made = withMember(made, name, each);
        return made;
      });
    const stored = fc.record({
      state: fc.constantFrom("active", "paused"),
      newTools: fc.constantFrom("off", "ask", "allow"),
      permissions: table(fc.constantFrom("off", "ask", "allow")),
      descriptions: table(fc.record({ description: text }, { requiredKeys: ["description"] })),
      capabilities: fc.subarray(["roots", "tools", "prompts", "sampling"], { minLength: 1 }),
      deadlines: fc.record({ listTimeoutMs: fc.integer({ min: 1, max: 9 }) }, { requiredKeys: [] }),
    });
    fc.assert(
      fc.property(stored, (changes) => {
        const registration = parseRegistration(storedRegistration(changes));
        const written = writeRegistration(registration);
        expect(readRegistration(written)).toEqual(registration);
        expect(Object.keys(readRegistration(written).permissions)).toEqual(Object.keys(registration.permissions));
        expect(writeRegistration(readRegistration(written))).toBe(written);
      }),
      { seed: 4, numRuns: 200 },
    );
  });

  it.each<[string, string]>([
    ["", ""],
    ["", "{"],
    ["", "[]"],
    ["", "null"],
    ["", `{"a":"${"x".repeat(12 * 1024 * 1024)}"}`],
    ["formatVersion", JSON.stringify(storedRegistration())],
    ["formatVersion", JSON.stringify({ ...storedRegistration(), formatVersion: 2 })],
    ["formatVersion", JSON.stringify({ ...storedRegistration(), formatVersion: "1" })],
    ["connected", JSON.stringify({ ...storedRegistration(), formatVersion: 1, connected: true })],
    ["settings.endpoint", JSON.stringify({ ...storedRegistration({ settings: {} }), formatVersion: 1 })],
  ])("is refused at %s (%#)", (member, text) => {
    expect(refusedMember(() => readRegistration(text))).toBe(member);
  });
});

describe("H-3: loading all registrations", () => {
  it("makes an issue of each file that can't be read, and loads the rest", () => {
    const good = fileOf({ id: OTHER_ID, slug: "zebra" });
    const also = fileOf();
    const files = [
      { file: "broken.json", text: "{" },
      good,
      { file: "locked.json", failure: "no permission to read it" },
      { file: "old.json", text: JSON.stringify({ ...storedRegistration(), formatVersion: 0 }) },
      also,
      { file: "member.json", text: JSON.stringify({ ...storedRegistration({ state: "on" }), formatVersion: 1 }) },
    ];
    const loaded = loadRegistrations(files);
    expect(loaded.registrations.map(({ slug }) => slug)).toEqual(["docs", "zebra"]);
    expect(loaded.issues.map(({ file, member }) => [file, member])).toEqual([
      ["broken.json", ""],
      ["locked.json", ""],
      ["member.json", "state"],
      ["old.json", "formatVersion"],
    ]);
    expect(loaded.issues[1]?.reason).toBe("no permission to read it");
    expect(loadRegistrations(files.toReversed())).toEqual(loaded);
  });

  it("takes a copy of a file for none", () => {
    const { text } = fileOf();
    const loaded = loadRegistrations([fileOf(), { file: `${ID} copy.json`, text }]);
    expect(loaded.registrations).toHaveLength(1);
    expect(loaded.issues).toMatchObject([{ file: `${ID} copy.json`, member: "id" }]);
  });

  it("takes file names of either kind of system", () => {
    const files = [
      fileOf({}, `state/registrations/${ID}.json`),
      fileOf({ id: OTHER_ID, slug: "b" }, `C:\\r\\${OTHER_ID}.json`),
    ];
    expect(loadRegistrations(files).issues).toEqual([]);
  });

  it("leaves out all that share a slug, since nothing says which is right", () => {
    const files = [fileOf(), fileOf({ id: OTHER_ID }), fileOf({ id: ID.replace("0b", "1b"), slug: "other" })];
    const loaded = loadRegistrations(files);
    expect(loaded.registrations.map(({ slug }) => slug)).toEqual(["other"]);
    expect(loaded.issues.map(({ file, member }) => [file, member])).toEqual([
      [`${ID}.json`, "slug"],
      [`${OTHER_ID}.json`, "slug"],
    ]);
  });

  it("keeps to the host's policy", () => {
    const plain = storedRegistration({ settings: { endpoint: "http://docs.example/" } });
    const files = [{ file: `${ID}.json`, text: JSON.stringify({ ...plain, formatVersion: 1 }) }];
    expect(loadRegistrations(files).issues).toMatchObject([{ member: "settings.endpoint" }]);
    expect(loadRegistrations(files, { allowInsecureHttp: true }).issues).toEqual([]);
  });
});
