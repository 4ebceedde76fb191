import { describe, expect, it } from "vitest";
import { chooseGrantClient } from "../../../../src/oauth/grants/grant-client.js";
import type { OAuthClient } from "../../../../src/oauth/oauth-client.js";

const ISSUER = "https://as.test";
const KINDS = ["client_credentials", "enterprise_managed", "workload_identity"] as const;

function clientOf(changes: Partial<OAuthClient> = {}): OAuthClient {
  return {
    kind: "pre_registered",
    issuer: ISSUER,
    clientId: "client-1",
    clientSecret: "secret-1",
    secretExpiresAt: undefined,
    authMethod: "client_secret_basic",
    signingKey: undefined,
    redirectUris: [],
    ...changes,
  };
}

describe("the client of a grant", () => {
  it.each(KINDS)("A-9: is the one that belongs to the authorization server, for %s", (kind) => {
    const client = clientOf();
    expect(chooseGrantClient(kind, ISSUER, client)).toBe(client);
  });

  it.each(KINDS)("A-4: is never one of another authorization server, for %s", (kind) => {
    const client = clientOf({ issuer: `${ISSUER}/` });
    expect(() => chooseGrantClient(kind, ISSUER, client)).toThrow(
      expect.objectContaining({
        code: "client_identity_required",
        delivery: "not_sent",
        details: { issuer: ISSUER, reason: "other_issuer", configuredFor: [`${ISSUER}/`] },
      }),
    );
  });

  it("A-9: may be missing for a workload, and for nothing else", () => {
    expect(chooseGrantClient("workload_identity", ISSUER, undefined)).toBeUndefined();
    for (const kind of ["client_credentials", "enterprise_managed"] as const) {
      expect(() => chooseGrantClient(kind, ISSUER, undefined)).toThrow(
        expect.objectContaining({ code: "client_identity_required", details: { issuer: ISSUER, reason: "none" } }),
      );
    }
  });

  it("A-9: has to prove who it is for its own credentials, and need not for an assertion", () => {
    const client = clientOf({ authMethod: "none", clientSecret: undefined });
    expect(() => chooseGrantClient("client_credentials", ISSUER, client)).toThrow(
      expect.objectContaining({ code: "client_identity_required", details: { issuer: ISSUER, reason: "none" } }),
    );
    expect(chooseGrantClient("workload_identity", ISSUER, client)).toBe(client);
    expect(chooseGrantClient("enterprise_managed", ISSUER, client)).toBe(client);
  });
});
