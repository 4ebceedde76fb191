import { describe, expect, it } from "vitest";
import type { OAuthClient, PreRegisteredClient } from "../../../../src/oauth/index.js";
import { resolveOAuthOptions } from "../../../../src/oauth/resolve-oauth-options.js";
import { ClientDesk } from "../../../../src/oauth/session/client-desk.js";

const KEPT: OAuthClient = {
  kind: "pre_registered",
  issuer: "https://as.test",
  clientId: "client",
  clientSecret: undefined,
  secretExpiresAt: undefined,
  authMethod: "client_secret_post",
  signingKey: undefined,
  redirectUris: [],
};

function deskOf(client: Omit<PreRegisteredClient, "clientId">): ClientDesk {
  const identity = { preRegistered: [{ clientId: "client", ...client }] };
  const config = resolveOAuthOptions({ clientName: "test", identity });
  return new ClientDesk("https://mcp.test/", config, () => Promise.reject(new Error("Nothing is asked.")));
}

describe("the client of stored tokens", () => {
  it("A-6: authenticates as it did, with what the options have", () => {
    expect(deskOf({ clientSecret: "s" }).rejoin(KEPT)).toEqual({ ...KEPT, clientSecret: "s" });
    expect(deskOf({ issuer: "https://as.test", clientSecret: "s" }).rejoin(KEPT)?.clientSecret).toBe("s");
  });

  it("A-6: authenticates by what the options have, when that is another way by now", () => {
    expect(deskOf({}).rejoin(KEPT)?.authMethod).toBe("none");
    expect(deskOf({ clientSecret: "s", authMethod: "client_secret_basic" }).rejoin(KEPT)?.authMethod).toBe(
      "client_secret_basic",
    );
  });

  it("A-4: is none that the options don't have, or have for another issuer", () => {
    expect(deskOf({ issuer: "https://other.test", clientSecret: "s" }).rejoin(KEPT)).toBeUndefined();
    expect(deskOf({ clientSecret: "s" }).rejoin({ ...KEPT, clientId: "other" })).toBeUndefined();
  });
});
