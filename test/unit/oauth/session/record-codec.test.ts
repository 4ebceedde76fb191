import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GrantRecord } from "../../../../src/oauth/grant-record.js";
import { parseGrant, printGrant } from "../../../../src/oauth/session/record-codec.js";

const ENDPOINT = "https://mcp.test/a?key=hidden";

const RECORD: GrantRecord = {
  endpoint: ENDPOINT,
  resource: "https://mcp.test/",
  issuer: "https://as.test",
  client: {
    kind: "dynamic",
    issuer: "https://as.test",
    clientId: "client",
    clientSecret: "client secret",
    secretExpiresAt: 5,
    authMethod: "client_secret_basic",
    signingKey: { key: "a private key" },
    redirectUris: ["http://127.0.0.1:1/callback"],
  },
  tokenEndpoint: "https://as.test/token",
  tokens: { accessToken: "at", tokenType: "Bearer", expiresAt: 0, refreshToken: "rt", scopes: [] },
  requestedScopes: ["read"],
  refusedScopes: [""],
  dpopKey: { kty: "EC", d: "d" },
};

const text = fc.string({ minLength: 1 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });

const record: fc.Arbitrary<GrantRecord> = text.chain((issuer) =>
  fc.record({
    endpoint: fc.constant(ENDPOINT),
    resource: maybe(fc.string()),
    issuer: fc.constant(issuer),
    client: fc.record({
      kind: fc.constantFrom("dynamic" as const),
      issuer: fc.constant(issuer),
      clientId: fc.string(),
      clientSecret: maybe(fc.string()),
      secretExpiresAt: maybe(fc.nat()),
      authMethod: fc.constantFrom("client_secret_basic" as const, "none" as const),
      signingKey: fc.constant(undefined),
      redirectUris: fc.array(fc.string()),
    }),
    tokenEndpoint: text,
    tokens: maybe(
      fc.record({
        accessToken: text,
        tokenType: fc.constantFrom("Bearer" as const, "DPoP" as const),
        expiresAt: maybe(fc.integer()),
        refreshToken: maybe(text),
        scopes: maybe(fc.array(fc.string())),
      }),
    ),
    requestedScopes: fc.array(fc.string()),
    refusedScopes: fc.array(fc.string()),
    dpopKey: maybe(fc.record({ kty: fc.string(), d: fc.string() })),
  }),
);

const damaged = expect.objectContaining({
  code: "oauth_invalid",
  details: expect.objectContaining({
    subject: "credential",
    url: expect.not.stringContaining("hidden") as unknown,
  }) as unknown,
}) as unknown;

function refusal(written: string, endpoint = ENDPOINT): unknown {
  try {
    return parseGrant(written, endpoint);
  } catch (error) {
    return error;
  }
}

describe("the record of an account", () => {
  it("A-4: comes back as it was written", () => {
    fc.assert(
      fc.property(record, (written) => {
        expect(parseGrant(printGrant(written), ENDPOINT)).toEqual(written);
      }),
      { numRuns: 100 },
    );
  });

  it("A-10: holds no signing key, and no secret of a client that was registered by hand", () => {
    expect(printGrant(RECORD)).not.toContain("a private key");
    expect(parseGrant(printGrant(RECORD), ENDPOINT).client.clientSecret).toBe("client secret");
    const byHand = printGrant({ ...RECORD, client: { ...RECORD.client, kind: "pre_registered" } });
    expect(byHand).not.toContain("client secret");
    expect(parseGrant(byHand, ENDPOINT).client).toMatchObject({ clientId: "client", clientSecret: undefined });
  });

  it("A-10: is refused when anything of it is damaged, and shows nothing of it", () => {
    const written = printGrant(RECORD);
    const value: object = JSON.parse(written);
    const broken = [
      "",
      written.slice(0, -1),
      "null",
      "[]",
      JSON.stringify({ ...value, version: 2 }),
      JSON.stringify({ ...value, more: 1 }),
      JSON.stringify({ ...value, tokens: { accessToken: "" } }),
      JSON.stringify({ ...value, requestedScopes: "read" }),
      ...Object.keys(value)
        .filter((key) => !["resource", "tokens", "dpopKey"].includes(key))
        .map((key) => JSON.stringify({ ...value, [key]: undefined })),
    ];
    for (const each of broken) {
      const error = refusal(each);
      expect(error).toEqual(damaged);
      expect(JSON.stringify(error)).not.toMatch(/client secret|"rt"|private/);
    }
  });

  it("A-4: is refused for another endpoint, and with a client of another issuer", () => {
    expect(refusal(printGrant(RECORD), "https://mcp.test/b")).toMatchObject({ details: { member: "endpoint" } });
    const mixed = { ...RECORD, client: { ...RECORD.client, issuer: "https://other.test" } };
    expect(refusal(printGrant(mixed))).toMatchObject({ code: "oauth_invalid", details: { member: "client.issuer" } });
  });
});
