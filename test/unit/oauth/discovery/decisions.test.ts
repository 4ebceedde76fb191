import { describe, expect, it } from "vitest";
import type { AuthorizationServer, ServerMetadata } from "../../../../src/oauth/authorization-server.js";
import { checkCodeFlow, chooseIssuer } from "../../../../src/oauth/discovery/index.js";
import { classifyMetadataAnswer } from "../../../../src/oauth/discovery/metadata-answer.js";
import { readResource } from "../../../../src/oauth/discovery/read-resource.js";
import { readServer } from "../../../../src/oauth/discovery/read-server.js";

const ISSUER = "https://as.test";
const SOURCE = "https://m.test/.well-known/x";

describe("chooseIssuer", () => {
  const resource = readResource(
    { resource: "https://m.test", authorization_servers: ["a", "b", "c"] },
    SOURCE,
    new URL("https://m.test/mcp"),
  );

  it.each<[string[], string[], string]>([
    [[], [], "a"],
    [["c", "b"], [], "b"],
    [[], ["c"], "c"],
    [["c"], ["b"], "c"],
    [["x", "A", "a/"], ["y"], "a"],
  ])("A-2: with tokens of %j and registrations at %j", (withTokens, preRegistered, issuer) => {
    expect(chooseIssuer(resource, { withTokens, preRegistered })).toBe(issuer);
  });

  it("A-2: of none there is none", () => {
    expect(() =>
      chooseIssuer({ ...resource, authorizationServers: [] }, { withTokens: ["a"], preRegistered: [] }),
    ).toThrow(expect.objectContaining({ code: "oauth_invalid", delivery: "answered" }));
  });
});

describe("checkCodeFlow", () => {
  const metadata: ServerMetadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    code_challenge_methods_supported: ["plain", "S256"],
  };
  const check =
    (change: Partial<ServerMetadata>, source: AuthorizationServer["source"] = "document") =>
    () =>
      checkCodeFlow({ metadata: { ...metadata, ...change }, source });

  it("A-3: a document that lists S256 and default endpoints are fine", () => {
    expect(check({})).not.toThrow();
    expect(check({ code_challenge_methods_supported: undefined }, "defaults")).not.toThrow();
  });

  it.each<[Partial<ServerMetadata>, string]>([
    [{ code_challenge_methods_supported: undefined }, "code_challenge_methods_supported"],
    [{ code_challenge_methods_supported: [] }, "code_challenge_methods_supported"],
    [{ code_challenge_methods_supported: ["plain", "s256"] }, "code_challenge_methods_supported"],
    [{ authorization_endpoint: undefined }, "authorization_endpoint"],
    [{ token_endpoint: undefined }, "token_endpoint"],
  ])("A-3: a document with %j is refused", (change, member) => {
    expect(check(change)).toThrow(
      expect.objectContaining({ code: "oauth_invalid", details: expect.objectContaining({ member }) }),
    );
  });
});

describe("classifyMetadataAnswer", () => {
  const classify = (status: number, mediaType: string, text: string): string => {
    const answer = classifyMetadataAnswer({
      url: SOURCE,
      status,
      mediaType,
      headers: {},
      body: new TextEncoder().encode(text),
    });
    return answer.kind === "absent" ? `absent, ${answer.refused ? "refused" : "a page"}` : answer.kind;
  };

  it.each([
    [200, "application/json", "{}", "document"],
    [200, "application/json", "\ufeff{}", "document"],
    [200, "application/jwk-set+json", "{}", "document"],
    [200, "text/plain", "{}", "document"],
    [200, "application/octet-stream", "{}", "document"],
    [200, "", "{}", "document"],
    [201, "application/json", "{}", "document"],
    [200, "application/json", "[]", "broken"],
    [200, "application/json", "null", "broken"],
    [200, "application/json", '{"a":', "broken"],
    [200, "application/json", "", "broken"],
    [200, "application/problem+json", "x", "broken"],
    [200, "text/html", "<html>", "absent, a page"],
    [200, "text/html", "{}", "absent, a page"],
    [200, "application/xhtml+xml", "{}", "absent, a page"],
    [200, "text/plain", "Not found", "absent, a page"],
    [204, "", "", "absent, a page"],
    [400, "application/json", "{}", "absent, refused"],
    [401, "", "", "absent, refused"],
    [404, "text/html", "<html>", "absent, refused"],
    [429, "", "", "absent, refused"],
    [499, "", "", "absent, refused"],
    [304, "", "", "failed"],
    [500, "application/json", "{}", "failed"],
    [503, "text/html", "", "failed"],
    [600, "", "", "failed"],
  ])("A-2: %i as %j with %j is %s", (status, mediaType, text, expected) => {
    expect(classify(status, mediaType, text)).toBe(expected);
  });

  it("A-11: JSON of any depth is read, as far as it is used", () => {
    const deep = `{"resource":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(classify(200, "application/json", deep)).toBe("document");
  });
});

describe("readResource", () => {
  const endpoint = new URL("https://m.test/mcp");
  const published = { resource: "https://m.test", authorization_servers: [ISSUER] };
  const read = (change: object) => readResource({ ...published, ...change }, SOURCE, endpoint);

  it("A-2: takes the identifier and the issuers as they are", () => {
    expect(read({ resource: "https://M.test:443/", authorization_servers: ["https://AS.test/", ISSUER] })).toEqual({
      resource: "https://M.test:443/",
      source: SOURCE,
      authorizationServers: ["https://AS.test/", ISSUER],
      scopesSupported: undefined,
      needsDpop: false,
    });
  });

  it("A-2: optional members of another type count as absent, unknown ones are passed over", () => {
    const odd = { scopes_supported: "a b", dpop_bound_access_tokens_required: "yes", jwks_uri: 1, __proto__: null };
    expect(read(odd)).toMatchObject({ scopesSupported: undefined, needsDpop: false });
    const lists = { scopes_supported: ["a", 1, null, "b"], authorization_servers: [7, "", ISSUER, null] };
    expect(read(lists)).toMatchObject({ scopesSupported: ["a", "b"], authorizationServers: [ISSUER] });
    expect(read({ scopes_supported: [], dpop_bound_access_tokens_required: true })).toMatchObject({
      scopesSupported: [],
      needsDpop: true,
    });
  });

  it.each<[object, string]>([
    [{ resource: undefined }, "resource"],
    [{ resource: 7 }, "resource"],
    [{ resource: "" }, "resource"],
    [{ resource: ["https://m.test"] }, "resource"],
    [{ resource: "https://evil.test/mcp" }, "resource"],
    [{ authorization_servers: undefined }, "authorization_servers"],
    [{ authorization_servers: [] }, "authorization_servers"],
    [{ authorization_servers: [7, ""] }, "authorization_servers"],
    [{ authorization_servers: ISSUER }, "authorization_servers"],
  ])("A-2: refuses %j", (change, member) => {
    expect(() => read(change)).toThrow(
      expect.objectContaining({
        code: "oauth_invalid",
        delivery: "answered",
        details: { subject: "resource_metadata", url: SOURCE, member, reason: expect.any(String) },
      }),
    );
  });
});

describe("readServer", () => {
  const read = (change: object, issuers: readonly string[] = [ISSUER]) =>
    readServer({ issuer: ISSUER, ...change }, SOURCE, issuers);

  it("A-3: needs nothing but the issuer, and passes over what is odd", () => {
    const absent = Object.entries(read({ authorization_endpoint: 7, token_endpoint: "", scopes_supported: {}, x: 1 }));
    expect(absent.filter(([, value]) => value !== undefined)).toEqual([["issuer", ISSUER]]);
  });

  it("A-3: reads what is used", () => {
    const document = {
      authorization_endpoint: "https://login.test/authorize?tenant=1",
      token_endpoint: `${ISSUER}/token`,
      registration_endpoint: `${ISSUER}/register`,
      revocation_endpoint: `${ISSUER}/revoke`,
      scopes_supported: ["a", 1],
      grant_types_supported: ["authorization_code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      token_endpoint_auth_signing_alg_values_supported: ["ES256"],
      dpop_signing_alg_values_supported: ["ES256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: false,
    };
    expect(read(document)).toEqual({ ...document, issuer: ISSUER, scopes_supported: ["a"] });
  });

  it.each([`${ISSUER}/`, "https://AS.test", "https://as.test:443", "https://attacker.test", 7, undefined, ""])(
    "A-3: issuer %j is not the one that led there",
    (issuer) => {
      expect(() => read({ issuer })).toThrow(
        expect.objectContaining({
          code: "oauth_invalid",
          details: { subject: "server_metadata", url: SOURCE, member: "issuer", reason: expect.any(String) },
        }),
      );
    },
  );

  it.each(["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"])(
    "A-11: %s must be a URL that may be asked",
    (member) => {
      for (const url of [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://as.test/x",
        "http://127.0.0.1:9/",
        "https://localhost/",
        "https://u:p@as.test/",
        "/x",
      ]) {
        expect(() => read({ [member]: url })).toThrow(
          expect.objectContaining({
            code: "oauth_invalid",
            details: expect.objectContaining({ subject: "server_metadata", member }),
          }),
        );
      }
    },
  );

  it("A-11: endpoints on loopback are for issuers on loopback", () => {
    const issuer = "http://localhost:3000/t";
    expect(readServer({ issuer, token_endpoint: "http://localhost:3000/token" }, SOURCE, [issuer])).toMatchObject({
      token_endpoint: "http://localhost:3000/token",
    });
  });
});
