import { describe, expect, it } from "vitest";
import {
  parseRegistration,
  readRegistration,
  replaceSettings,
  settingsDigest,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { requested, storedRegistration } from "./registration.fixture.js";

const ENDPOINT = "https://docs.example/mcp";
const settings = (oauth?: unknown) => ({ endpoint: ENDPOINT, ...(oauth === undefined ? {} : { oauth }) });
const registered = (oauth?: unknown) => parseRegistration(storedRegistration({ settings: settings(oauth) }));
const digestOf = (oauth?: unknown): string => settingsDigest(registered(oauth).settings);

describe("H-3, A-10: the account of a registration", () => {
  it("is left out, refused, or named with further scopes", () => {
    expect(registered().settings).not.toHaveProperty("oauth");
    expect(registered(false).settings.oauth).toBe(false);
    expect(registered({}).settings.oauth).toEqual({ account: "", scopes: [] });
    const named = { account: "work", scopes: ["files:read", "!#[]~"] };
    expect(registered(named).settings.oauth).toEqual(named);
  });

  it.each<[string, unknown, string]>([
    ["true", true, "settings.oauth"],
    ["null", null, "settings.oauth"],
    ["an unknown member", { acount: "work" }, "settings.oauth"],
    ["a name with a space", { account: "my work" }, "settings.oauth"],
    ["a name that is no ASCII", { account: "büro" }, "settings.oauth"],
    ["a name that is too long", { account: "a".repeat(129) }, "settings.oauth"],
    ["an empty scope", { scopes: [""] }, "settings.oauth"],
    ["two scopes in one", { scopes: ["a b"] }, "settings.oauth"],
    ["a quoted scope", { scopes: ['"a"'] }, "settings.oauth"],
    ["a scope that is too long", { scopes: ["a".repeat(257)] }, "settings.oauth"],
    ["too many scopes", { scopes: Array.from({ length: 65 }, (_, index) => `s${String(index)}`) }, "settings.oauth"],
  ])("is refused with %s", (_, oauth, member) => {
    expect(refusedMember(() => registered(oauth))).toMatch(new RegExp(`^${member}`));
  });

  it("changes the digest when it is there, and nothing of the digests from before it could be", () => {
    // What the versions without it have written into stores.
    expect(digestOf()).toBe("87dd8e5d7f5613d5a18443a34a62d397d586bf97bc0063f4a4220791223230b5");
    expect(settingsDigest(parseRegistration(storedRegistration(requested())).settings)).toBe(
      "6e0b021936b6c6ef00af5a0a66bfe73dea17d66240596c0c3e4b44c2c02d4134",
    );
    const digests = [undefined, false, {}, { account: "work" }, { account: "home" }, { scopes: ["a"] }].map(digestOf);
    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOf({ account: "work", scopes: [] })).toBe(digestOf({ account: "work" }));
  });

  it("is a setting like any other: another one replaces them, the permissions stay", () => {
    const before = registered();
    const { changed, registration } = replaceSettings(before, settings({ account: "work" }));
    expect(changed).toBe("settings");
    expect(registration.permissions).toEqual(before.permissions);
    expect(replaceSettings(registration, settings({ account: "work", scopes: [] })).changed).toBe("nothing");
  });

  it.each([[undefined], [false], [{ account: "work", scopes: ["a"] }]])("is in its file: %j", (oauth) => {
    const registration = registered(oauth);
    const text = writeRegistration(registration);
    expect(text.includes('"oauth"')).toBe(oauth !== undefined);
    expect(readRegistration(text)).toEqual(registration);
    expect(writeRegistration(readRegistration(text))).toBe(text);
  });

  it("is written one way only", () => {
    const [one, other] = [
      { scopes: ["a"], account: "b" },
      { account: "b", scopes: ["a"] },
    ].map(registered);
    if (one === undefined || other === undefined) throw new Error("two");
    expect(writeRegistration(one)).toBe(writeRegistration(other));
  });

  it("is not in files of older versions, which load as they did", () => {
    const text = JSON.stringify({ formatVersion: 1, ...storedRegistration() });
    expect(readRegistration(text).settings).not.toHaveProperty("oauth");
  });
});
