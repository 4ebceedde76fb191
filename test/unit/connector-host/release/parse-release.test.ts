import { describe, expect, it } from "vitest";
import { isConnectorKey, parseRelease } from "../../../../src/connector-host/release/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { publishedRelease, publishedRuntime } from "./release.fixture.js";

const runtime = publishedRuntime();

function refusedMember(value: unknown): string {
  try {
    parseRelease(value);
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_release")) throw error;
    expect(error.delivery).toBe("not_sent");
    return error.details.member;
  }
  return "(accepted)";
}

describe("H-1: a release", () => {
  it("is read whole", () => {
    const whole = publishedRelease({
      display: { name: "Docs", description: "Écrire", iconUrl: "https://icons.example/docs.png" },
      routing: { aliases: ["Docs", "腾讯文档", "R&D (beta)"] },
    });
    expect(parseRelease(whole)).toEqual(whole);
  });

  it.each([["oauth2"], ["api_key"]])("with authorization %s names its profile", (kind) => {
    expect(parseRelease(publishedRelease({ authorization: { kind, profile: "a.b" } })).authorization.kind).toBe(kind);
    expect(refusedMember(publishedRelease({ authorization: { kind } }))).toBe("authorization.profile");
  });

  it("without authorization needs no profile", () => {
    expect(parseRelease(publishedRelease({ authorization: { kind: "none" } })).authorization).toEqual({ kind: "none" });
  });

  it("is a frozen copy of its own", () => {
    const source = publishedRelease();
    const release = parseRelease(source);
    runtime["later"] = 1;
    expect(Object.keys(release.runtime)).not.toContain("later");
    delete runtime["later"];
    for (const part of [
      release,
      release.runtime,
      release.authorization,
      release.requiredCapabilities,
      release.display,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    ["endpoint", "https://docs.example/mcp"],
    ["allowedHosts", ["docs.example"]],
    ["headers", { Authorization: "Bearer {token}" }],
    ["query", { key: "{token}" }],
    ["timeoutMs", 30_000],
    ["retry", { attempts: 3 }],
    ["rateLimit", 5],
    ["region", "eu"],
    ["health", { path: "/" }],
    ["anythingElse", null],
    ["__proto__", { polluted: true }],
  ])("that holds %s is refused by that name, wherever it stands", (member, value) => {
    const places: [string, Record<string, unknown>][] = [
      ["", withMember(publishedRelease(), member, value)],
      ["runtime.", publishedRelease({ runtime: withMember(runtime, member, value) })],
      [
        "authorization.",
        publishedRelease({ authorization: withMember({ kind: "oauth2", profile: "a" }, member, value) }),
      ],
      ["display.", publishedRelease({ display: withMember({ name: "Docs" }, member, value) })],
      ["routing.", publishedRelease({ routing: withMember({ aliases: ["Docs"] }, member, value) })],
    ];
    for (const [prefix, release] of places) expect(refusedMember(release)).toBe(prefix + member);
  });

  it.each([
    ["endpoint", "endpoint"],
    ["baseUrl", "endpoint"],
    ["allowedHosts", "host list"],
    ["domains", "host list"],
    ["headers", "header rule"],
    ["request_headers", "header rule"],
    ["queryParams", "query rule"],
    ["timeoutMs", "timeout policy"],
    ["callDeadline", "timeout policy"],
    ["maxRetries", "retry policy"],
    ["retry", "retry policy"],
    ["rateLimit", "rate policy"],
    ["region", "region policy"],
    ["healthCheck", "health policy"],
    ["anythingElse", "not a member"],
    ["constructor", "not a member"],
  ])("that holds %s is told that a release holds no such thing: %s", (member, kind) => {
    for (const release of [{ ...publishedRelease(), [member]: 1 }, { [member]: 1 }]) {
      expect(() => parseRelease(release)).toThrow(
        expect.objectContaining({ details: { member, reason: expect.stringContaining(kind) } }),
      );
    }
  });

  it("shows a member's name on one line, and not at any length", () => {
    const shown = refusedMember({ ...publishedRelease(), [`a\n\u001b[2J${"x".repeat(9_999)}`]: 1 });
    expect(shown).toMatch(/^a +\[2Jx{400,510}$/);
  });

  it("names an unknown member before any other fault", () => {
    expect(refusedMember(publishedRelease({ version: 1, runtime: { ...runtime, endpoint: "x" } }))).toBe(
      "runtime.endpoint",
    );
  });

  it.each<[string, unknown]>([
    ["connectorId", publishedRelease({ connectorId: "Docs" })],
    ["connectorId", publishedRelease({ connectorId: "docs-" })],
    ["connectorId", publishedRelease({ connectorId: "a".repeat(129) })],
    ["version", publishedRelease({ version: "" })],
    ["version", publishedRelease({ version: "1.0\r\nX: y" })],
    ["version", publishedRelease({ version: 1 })],
    ["runtime", publishedRelease({ runtime: undefined })],
    ["runtime.kind", publishedRelease({ runtime: { ...runtime, kind: "managed_stdio" } })],
    ["runtime.protocolVersion", publishedRelease({ runtime: { ...runtime, protocolVersion: "2025-11-25" } })],
    ["runtime.bindingRef", publishedRelease({ runtime: { ...runtime, bindingRef: "Docs/primary" } })],
    ["runtime.contractVersion", publishedRelease({ runtime: { ...runtime, contractVersion: 0 } })],
    ["runtime.contractVersion", publishedRelease({ runtime: { ...runtime, contractVersion: 1.5 } })],
    ["runtime.bindingContractHash", publishedRelease({ runtime: { ...runtime, bindingContractHash: "sha256:AB" } })],
    ["authorization.kind", publishedRelease({ authorization: { kind: "basic" } })],
    ["requiredCapabilities", publishedRelease({ requiredCapabilities: [] })],
    ["requiredCapabilities", publishedRelease({ requiredCapabilities: ["tools", "prompts"] })],
    ["requiredCapabilities.0", publishedRelease({ requiredCapabilities: ["prompts"] })],
    ["minimumHostVersion", publishedRelease({ minimumHostVersion: "1.0" })],
    ["minimumHostVersion", publishedRelease({ minimumHostVersion: "01.0.0" })],
    // What compares versions throws for these.
    ["minimumHostVersion", publishedRelease({ minimumHostVersion: "1.0.0-01" })],
    ["minimumHostVersion", publishedRelease({ minimumHostVersion: "99999999999999999999.0.0" })],
    ["display", publishedRelease({ display: undefined })],
    ["display.name", publishedRelease({ display: { name: "" } })],
    ["display.name", publishedRelease({ display: { name: "\ud800" } })],
    ["display.name", publishedRelease({ display: { name: "Do\u001b[2Jcs" } })],
    ["display.iconUrl", publishedRelease({ display: { name: "Docs", iconUrl: "http://icons.example/x" } })],
    ["display.iconUrl", publishedRelease({ display: { name: "Docs", iconUrl: "https://me@icons.example/x" } })],
    ["display.iconUrl", publishedRelease({ display: { name: "Docs", iconUrl: `https://x/${"y".repeat(2_048)}` } })],
    ["routing.aliases", publishedRelease({ routing: { aliases: [] } })],
    ["routing.aliases", publishedRelease({ routing: { aliases: ["Docs", "docs"] } })],
    ["routing.aliases", publishedRelease({ routing: { aliases: Array.from({ length: 13 }, (_, i) => `a${i}`) } })],
    ["routing.aliases.0", publishedRelease({ routing: { aliases: ["x".repeat(49)] } })],
    ["routing.aliases.0", publishedRelease({ routing: { aliases: ["no\nlines"] } })],
    ["", null],
    ["", []],
    ["", "release"],
  ])("is refused at %s (%#)", (member, value) => {
    expect(refusedMember(value)).toBe(member);
  });
});

describe("H-1: a connector key", () => {
  it.each(["a", "7", "a_b", "a.b", "a-b", "0x_9.z", "a".repeat(128)])("can be %s", (key) => {
    expect(isConnectorKey(key)).toBe(true);
  });

  it.each(["", ".", "..", "a.", "_a", "-", "A", "a/b", "a b", "é", "a\n", "a".repeat(129), 1, undefined])(
    "can't be %j",
    (key) => {
      expect(isConnectorKey(key)).toBe(false);
    },
  );
});

/** A copy with one more member: an own one, also when it is called `__proto__`. */
function withMember(base: object, name: string, value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...base };
  Object.defineProperty(copy, name, { value, enumerable: true });
  return copy;
}
