import { describe, expect, it } from "vitest";
import type { OAuthOptions } from "../../../../src/oauth/index.js";
import { resolveOAuthOptions } from "../../../../src/oauth/resolve-oauth-options.js";

function optionOf(options: object): unknown {
  try {
    resolveOAuthOptions({ clientName: "test", ...options });
    return undefined;
  } catch (error) {
    const details: unknown = Reflect.get(Object(error), "details");
    return Reflect.get(Object(details), "option");
  }
}

const REFUSED: readonly (readonly [string, object])[] = [
  ["clientname", { clientname: "a" }],
  ["clientName", { clientName: "" }],
  ["clientUri", { clientUri: "nowhere" }],
  ["scopes", { scopes: ["two words"] }],
  ["scopes", { scopes: "read" }],
  ["dpop", { dpop: 1 }],
  ["sendsResource", { sendsResource: "no" }],
  ["openUrl", { openUrl: true }],
  ["signInTimeoutMs", { signInTimeoutMs: 0 }],
  ["transport.requestTimeoutMs", { transport: { requestTimeoutMs: -1 } }],
  ["identity.metadataDocument", { identity: { metadataDocument: "http://client.test/id" } }],
  ["grant", { grant: { kind: "client_credentials" } }],
  ["grant.kind", { grant: { kind: "password" } }],
  ["grant.assertion", { grant: { kind: "workload_identity", assertion: "jwt" } }],
  ["grant.issuer", { grant: { kind: "workload_identity", assertion: () => "jwt", issuer: "issuer" } }],
  [
    "grant.authMethod",
    {
      grant: {
        kind: "enterprise_managed",
        tokenEndpoint: "https://idp.test/token",
        idToken: () => "",
        clientId: "c",
        clientSecret: "s",
        authMethod: "none",
      },
    },
  ],
  [
    "grant.clientSecret",
    {
      grant: {
        kind: "enterprise_managed",
        tokenEndpoint: "https://idp.test/token",
        clientSecret: "s",
        idToken: () => "",
      },
    },
  ],
  ["grant.tokenEndpoint", { grant: { kind: "enterprise_managed", tokenEndpoint: "", idToken: () => "" } }],
];

describe("the options of createOAuth", () => {
  it.each(REFUSED)("are refused by name: %s", (option, options) => {
    expect(optionOf(options)).toBe(option);
  });

  it("have defaults, and a lease that is longer than a request", () => {
    const config = resolveOAuthOptions({ clientName: "test" });
    expect(config).toMatchObject({ signInTimeoutMs: 300_000, dpop: false, sendsResource: true, scopes: [] });
    expect(config.leaseMs).toBe(45_000);
    const { leaseMs } = resolveOAuthOptions({ clientName: "test", transport: { requestTimeoutMs: Infinity } });
    expect(leaseMs).toBe(120_000);
  });

  it("F-6: take no part in what happens: a listener that throws changes nothing, and time is in whole milliseconds", () => {
    const options: OAuthOptions = {
      clientName: "test",
      wallNow: () => 1.9,
      onEvent: () => {
        throw new Error("from a listener");
      },
    };
    const { onEvent, wallNow } = resolveOAuthOptions(options);
    expect(() => onEvent({ kind: "signed_out", endpoint: "e", account: "", issuer: "i" })).not.toThrow();
    expect(wallNow()).toBe(1);
  });
});
