import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalResource } from "../../../../src/oauth/canonical-resource.js";
import {
  clientCredentialsParameters,
  jwtBearerParameters,
  tokenExchangeParameters,
} from "../../../../src/oauth/grants/grant-parameters.js";

describe("the parameters of grants", () => {
  it("A-9: client credentials are asked for with the resource as published and the scopes", () => {
    expect(clientCredentialsParameters({ resource: "https://MCP.test/", scopes: ["b", "a"] })).toEqual({
      grant_type: "client_credentials",
      resource: "https://MCP.test/",
      scope: "b a",
    });
    expect(clientCredentialsParameters({ resource: undefined, scopes: [] })).toEqual({
      grant_type: "client_credentials",
    });
    expect(clientCredentialsParameters({ resource: "", scopes: [] })).toEqual({
      grant_type: "client_credentials",
      resource: "",
    });
  });

  it("A-9: an assertion is all that authorizes a JWT bearer", () => {
    expect(jwtBearerParameters("a.b.c", { resource: "https://mcp.test/mcp", scopes: ["x"] })).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "a.b.c",
      resource: "https://mcp.test/mcp",
      scope: "x",
    });
  });

  it("A-9: an identity provider is told for which authorization server and which resource", () => {
    const aim = { audience: "https://as.test/", resource: "https://mcp.test/mcp", scopes: ["x", "y"] };
    expect(tokenExchangeParameters("id.token.", aim)).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: "https://as.test/",
      resource: "https://mcp.test/mcp",
      scope: "x y",
      subject_token: "id.token.",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    });
  });

  it.each([
    ["https://mcp.test", "https://mcp.test"],
    ["https://MCP.test/", "https://mcp.test"],
    ["https://mcp.test:8443/", "https://mcp.test:8443"],
    ["https://mcp.test/mcp", "https://mcp.test/mcp"],
    ["https://mcp.test/mcp/", "https://mcp.test/mcp/"],
    ["https://mcp.test/mcp?tenant=1#part", "https://mcp.test/mcp?tenant=1"],
    ["https://mcp.test/?tenant=1", "https://mcp.test/?tenant=1"],
  ])("A-5: the canonical form of %s is %s", (endpoint, expected) => {
    const url = new URL(endpoint);
    expect(canonicalResource(url)).toBe(expected);
    expect(url.href).toBe(new URL(endpoint).href);
  });

  it("A-5: a canonical form is its own, and never has a fragment", () => {
    const urls = fc.webUrl({ withFragments: true, withQueryParameters: true });
    fc.assert(
      fc.property(urls, (text) => {
        const canonical = canonicalResource(new URL(text));
        expect(canonicalResource(new URL(canonical))).toBe(canonical);
        expect(canonical).not.toContain("#");
      }),
      { numRuns: 100, seed: 9 },
    );
  });
});
