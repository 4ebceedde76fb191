import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import {
  type AuthorizationPreparation,
  prepareAuthorization,
  redeemParameters,
} from "../../../../src/oauth/code-flow/index.js";

const ISSUER = "https://as.example.com/tenant";
const REDIRECT_URI = "http://127.0.0.1:4321/callback";

interface Changes extends Partial<AuthorizationPreparation> {
  readonly endpoint?: string | undefined;
  readonly methods?: readonly string[] | undefined;
  readonly source?: "document" | "defaults";
  readonly announcesIssuer?: boolean | undefined;
}

function preparation(changes: Changes = {}): AuthorizationPreparation {
  const { announcesIssuer, endpoint = "https://as.example.com/authorize", source = "document", ...rest } = changes;
  const methods = "methods" in changes ? changes.methods : ["plain", "S256"];
  return {
    server: {
      source,
      metadata: {
        issuer: ISSUER,
        authorization_endpoint: "endpoint" in changes ? changes.endpoint : endpoint,
        code_challenge_methods_supported: methods,
        authorization_response_iss_parameter_supported: announcesIssuer,
      },
    },
    client: {
      kind: "dynamic",
      issuer: ISSUER,
      clientId: "client+1 &x",
      clientSecret: "never-shown",
      secretExpiresAt: undefined,
      authMethod: "client_secret_basic",
      signingKey: undefined,
      redirectUris: [REDIRECT_URI],
    },
    redirectUri: REDIRECT_URI,
    scopes: ["a", "b+c"],
    resource: "https://MCP.example.com/a%2Fb",
    randomBytes,
    ...rest,
  };
}

async function failureOf(changes: Changes): Promise<unknown> {
  const error: unknown = await prepareAuthorization(preparation(changes)).catch((caught: unknown) => caught);
  return isRemoteConnectorError(error) ? [error.code, error.details] : error;
}

describe("A-5: an authorization request", () => {
  it("has what the code flow needs, and nothing else", async () => {
    const pending = await prepareAuthorization(preparation());
    const url = new URL(pending.url);
    expect(`${url.origin}${url.pathname}`).toBe("https://as.example.com/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "client+1 &x",
      redirect_uri: REDIRECT_URI,
      state: pending.state,
      code_challenge: createHash("sha256").update(pending.codeVerifier).digest("base64url"),
      code_challenge_method: "S256",
      scope: "a b+c",
      resource: "https://MCP.example.com/a%2Fb",
    });
    expect([...url.searchParams]).toHaveLength(8);
    expect(pending.url).not.toContain(pending.codeVerifier);
    expect(pending.url).not.toContain("never-shown");
  });

  it("records what the answer is judged by", async () => {
    const { codeVerifier, state, url, ...recorded } = await prepareAuthorization(preparation());
    expect(recorded).toEqual({ issuer: ISSUER, redirectUri: REDIRECT_URI, scopes: ["a", "b+c"], expectsIssuer: false });
    expect(codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(state).toMatch(/^[\w-]{43}$/);
    expect(state).not.toBe(codeVerifier);
    expect(new URL(url).searchParams.get("state")).toBe(state);
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])("expects an issuer of a server whose metadata say %s: %s", async (announcesIssuer, expected) => {
    expect((await prepareAuthorization(preparation({ announcesIssuer }))).expectsIssuer).toBe(expected);
  });

  it("takes 32 bytes for each secret, of chance alone", async () => {
    const asked: number[] = [];
    const pending = await prepareAuthorization(
      preparation({
        randomBytes: (size) => {
          asked.push(size);
          return new Uint8Array(size).fill(asked.length);
        },
      }),
    );
    expect(asked).toEqual([32, 32]);
    expect(Buffer.from(pending.state, "base64url")).toEqual(Buffer.alloc(32, 1));
    expect(Buffer.from(pending.codeVerifier, "base64url")).toEqual(Buffer.alloc(32, 2));
  });

  it("leaves out scope and resource where there are none", async () => {
    const { url } = await prepareAuthorization(preparation({ scopes: [], resource: undefined }));
    const names = [...new URL(url).searchParams.keys()];
    expect(names).not.toContain("scope");
    expect(names).not.toContain("resource");
  });

  it("asks for consent with offline_access, and only then", async () => {
    const { url } = await prepareAuthorization(preparation({ scopes: ["a", "offline_access"] }));
    expect(new URL(url).searchParams.getAll("prompt")).toEqual(["consent"]);
  });

  it("writes spaces as %20 and a plus as %2B", async () => {
    const { url } = await prepareAuthorization(preparation());
    expect(url).toContain("scope=a%20b%2Bc&");
    expect(url).toContain("client_id=client%2B1%20%26x&");
  });

  it("keeps the endpoint's own query as it was written", async () => {
    const endpoint = "https://as.example.com/authorize?tenant=a%20b&flag&x=1&x=2&q=%C3%A9";
    const { url } = await prepareAuthorization(preparation({ endpoint }));
    expect(url.startsWith(`${endpoint}&response_type=code&`)).toBe(true);
  });

  it("has none of its parameters twice, whatever the endpoint's query has", async () => {
    const taken =
      "state=x&st%61te=y&scope=s&resource=r&redirect_uri=evil&response_type=token&code_challenge_method=plain";
    const endpoint = `https://as.example.com/authorize?${taken}&a=1&&client_id=other`;
    const pending = await prepareAuthorization(preparation({ endpoint }));
    const { searchParams } = new URL(pending.url);
    const names = [...searchParams.keys()];
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(searchParams.get("a")).toBe("1");
    expect(searchParams.get("state")).toBe(pending.state);
    expect(searchParams.get("response_type")).toBe("code");
    expect(searchParams.get("code_challenge_method")).toBe("S256");
    expect(searchParams.get("redirect_uri")).toBe(REDIRECT_URI);
  });

  it("keeps what the endpoint's query says of a parameter that is not set", async () => {
    const endpoint = "https://as.example.com/authorize?scope=fixed";
    const { url } = await prepareAuthorization(preparation({ endpoint, scopes: [] }));
    expect(new URL(url).searchParams.getAll("scope")).toEqual(["fixed"]);
  });

  it.each([
    ["http://as.example.com/authorize", "plain http elsewhere"],
    ["javascript:alert(1)", "no web address"],
    ["https://user:pw@as.example.com/authorize", "userinfo"],
    ["https://as.example.com/authorize#x", "a fragment"],
    ["/authorize", "no absolute URL"],
    ["", "nothing"],
  ])("goes nowhere by the endpoint %j: %s", async (endpoint) => {
    expect(await failureOf({ endpoint })).toEqual(["invalid_url", expect.anything()]);
  });

  it.each(["http://127.0.0.1:9/authorize", "http://localhost:9/authorize", "http://[::1]:9/authorize"])(
    "goes to %s, on loopback",
    async (endpoint) => {
      expect((await prepareAuthorization(preparation({ endpoint }))).url.startsWith(`${endpoint}?`)).toBe(true);
    },
  );

  it("needs an authorization endpoint", async () => {
    const details = { subject: "server_metadata", url: ISSUER, member: "authorization_endpoint", reason: "missing" };
    expect(await failureOf({ endpoint: undefined })).toEqual(["oauth_invalid", details]);
  });

  it.each([[undefined], [[]], [["plain"]], [["s256"]]])(
    "A-3: needs S256 in a document that was read: %j",
    async (methods) => {
      const details = { subject: "server_metadata", member: "code_challenge_methods_supported" };
      expect(await failureOf({ methods })).toEqual(["oauth_invalid", expect.objectContaining(details)]);
    },
  );

  it("A-3: sends PKCE all the same where there is no document", async () => {
    const { url } = await prepareAuthorization(preparation({ methods: undefined, source: "defaults" }));
    expect(new URL(url).searchParams.get("code_challenge_method")).toBe("S256");
  });
});

describe("A-5: the request that redeems a code", () => {
  it("has the verifier, the same redirect URI and the same resource", async () => {
    const pending = await prepareAuthorization(preparation());
    expect(redeemParameters("c/0 de", pending, "https://MCP.example.com/a%2Fb")).toEqual({
      grant_type: "authorization_code",
      code: "c/0 de",
      redirect_uri: REDIRECT_URI,
      code_verifier: pending.codeVerifier,
      resource: "https://MCP.example.com/a%2Fb",
    });
    expect(Object.keys(redeemParameters("c", pending, undefined))).not.toContain("resource");
  });
});
