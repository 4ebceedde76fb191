import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  parseRegistration,
  type Registration,
  replaceSettings,
  settingsDigest,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { storedRegistration } from "./registration.fixture.js";

const registration = (changes: Readonly<Record<string, unknown>> = {}): Registration =>
  parseRegistration(storedRegistration(changes));
const settings = (changes: object = {}) => ({ ...registration().settings, ...changes });
const digestOf = (changes: object): string => settingsDigest(registration({ settings: settings(changes) }).settings);

describe("H-3: the digest of connection settings", () => {
  it("is the SHA-256 of their canonical JSON, in lower hex", () => {
    const canonical =
      '{"endpoint":"https://docs.example/mcp?team=1",' +
      '"headers":[["authorization",["Bearer ",{"secret":"docs.token"}]],["x-team","blue"]],"protocol":"auto"}';
    expect(settingsDigest(registration().settings)).toBe(createHash("sha256").update(canonical).digest("hex"));
  });

  it("does not depend on how the endpoint or a header's name is written, nor on the order of headers", () => {
    const headers = { "x-TEAM": "blue", AUTHORIZATION: ["Bearer ", { secret: "docs.token" }] };
    expect(digestOf({ endpoint: "HTTPS://DOCS.example:443/mcp?team=1", headers })).toBe(digestOf({}));
    expect(digestOf({ headers: { "x-a": "1", "X-B": "2" } })).toBe(digestOf({ headers: { "X-A": "1", "x-b": "2" } }));
  });

  it.each<[string, object]>([
    ["endpoint", { endpoint: "https://docs.example/mcp?team=2" }],
    ["protocol", { protocol: "legacy" }],
    ["headers", { headers: {} }],
    ["a header's text", { headers: { ...settings().headers, "X-Team": "Blue" } }],
    ["a header's secret", { headers: { ...settings().headers, Authorization: ["Bearer ", { secret: "other" }] } }],
    ["where a header's value comes from", { headers: { ...settings().headers, "X-Team": { env: "blue" } } }],
  ])("changes with the %s", (_, changes) => {
    expect(digestOf(changes)).not.toBe(digestOf({}));
  });
});

describe("H-3: replacing connection settings", () => {
  it("replaces all of them, and keeps slug, state and the rest", () => {
    const before = registration();
    const replaced = replaceSettings(before, { endpoint: "https://docs.example/v2" });
    expect(replaced.changed).toBe("settings");
    expect(JSON.parse(JSON.stringify(replaced.registration))).toEqual({
      ...storedRegistration(),
      settings: { endpoint: "https://docs.example/v2", headers: {}, protocol: "auto" },
    });
    expect(parseRegistration(replaced.registration)).toEqual(replaced.registration);
    expect(before).toEqual(registration());
  });

  it.each([
    ["another host", "https://other.example/mcp"],
    ["another port", "https://docs.example:8443/mcp"],
    ["another scheme", "http://127.0.0.1/mcp"],
  ])("by %s turns allow into ask, for new tools as well", (_, endpoint) => {
    const before = registration({ newTools: "allow" });
    const { registration: after, changed } = replaceSettings(before, { ...before.settings, endpoint });
    expect(changed).toBe("origin");
    expect({ ...after.permissions }).toEqual({ search: "ask", write: "ask", drop: "off" });
    expect(after).toMatchObject({ newTools: "ask", slug: "docs", id: before.id, state: "active" });
    expect(after.descriptions).toEqual(before.descriptions);
    expect(Object.isFrozen(after)).toBe(true);
  });

  it("by the same ones changes nothing, not even what is the same object", () => {
    const before = registration();
    const { registration: after, changed } = replaceSettings(before, JSON.parse(JSON.stringify(before.settings)));
    expect(changed).toBe("nothing");
    expect(after).toBe(before);
  });

  it.each<[string, unknown]>([
    ["endpoint", settings({ endpoint: "http://docs.example/" })],
    ["endpoint", {}],
    ["headers.Host", settings({ headers: { Host: "a" } })],
    ["headers.Authorization", settings({ headers: { Authorization: "Bearer inline" } })],
    ["protocol", settings({ protocol: "2019-01-01" })],
    ["slug", settings({ slug: "other" })],
    ["", null],
  ])("is refused at %s, and replaces nothing (%#)", (member, next) => {
    const before = registration();
    expect(refusedMember(() => replaceSettings(before, next))).toBe(member);
    expect(before).toEqual(registration());
  });
});
