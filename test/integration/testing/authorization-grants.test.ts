import { afterEach, describe, expect, it } from "vitest";
import {
  AuthorizationServer,
  type AuthorizationServerOptions,
  likeModernServer,
  ProtectedServer,
} from "../../../src/testing/index.js";
import { issueToken, postForm, TOKEN_CLIENT } from "../../support/issue-token.js";
import { Opened } from "../../support/opened.js";
import { TestKey } from "../../support/test-key.js";

const opened = new Opened();
afterEach(opened.close);

const key = new TestKey();
const SECRETIVE = { clientId: "app", clientSecret: "s", redirectUris: [] };
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

async function start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const server = await AuthorizationServer.start({ clients: [TOKEN_CLIENT, SECRETIVE], ...options });
  opened.push(server);
  return server;
}

/** Makes a token request; gives the error's word, or what was issued. */
async function ask(server: AuthorizationServer, form: Record<string, string>, proof?: string): Promise<unknown> {
  const answer = await postForm(`${server.issuer}/token`, form, proof);
  return answer["error"] ?? answer;
}

async function documentOf(server: AuthorizationServer, path: string): Promise<unknown> {
  const answer = await fetch(`${server.origin}${path}`);
  return answer.status === 200 ? answer.json() : answer.status;
}

const WELL_KNOWN = "/.well-known/oauth-authorization-server";

describe("AuthorizationServer metadata", () => {
  it.each([
    ["oauth", `${WELL_KNOWN}/t`],
    ["openid", "/.well-known/openid-configuration/t"],
    ["openid_appended", "/t/.well-known/openid-configuration"],
  ] as const)("is at the %s place alone when told so, and every search is seen", async (form, place) => {
    const server = await start({ issuerPath: "/t", metadataAt: [form] });
    const paths = [
      `${WELL_KNOWN}/t`,
      "/.well-known/openid-configuration/t",
      "/t/.well-known/openid-configuration",
      WELL_KNOWN,
    ];
    for (const path of paths) {
      const expected = path === place ? expect.objectContaining({ issuer: server.issuer }) : 404;
      expect(await documentOf(server, path)).toEqual(expected);
    }
    expect(server.requests.map(({ endpoint, path }) => [endpoint, path])).toEqual(
      paths.map((path) => ["metadata", path]),
    );
  });

  it("says what is served, and what is laid over it, from one moment to the next", async () => {
    const server = await start({ scopesSupported: ["a"], authenticationMethods: ["none"] });
    expect(await documentOf(server, WELL_KNOWN)).toMatchObject({
      scopes_supported: ["a"],
      token_endpoint_auth_methods_supported: ["none"],
      grant_types_supported: ["authorization_code", "refresh_token"],
    });
    server.change({ metadata: { code_challenge_methods_supported: undefined, token_endpoint: "file:///etc/passwd" } });
    server.change({ allowsClientCredentials: true, dpop: "supported", findClientDocument: () => undefined });
    const document = await documentOf(server, WELL_KNOWN);
    expect(document).toMatchObject({
      token_endpoint: "file:///etc/passwd",
      scopes_supported: ["a"],
      client_id_metadata_document_supported: true,
      dpop_signing_alg_values_supported: expect.arrayContaining(["ES256"]),
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    });
    expect(document).not.toHaveProperty("code_challenge_methods_supported");
    const misspelt: object = { port: 1 };
    expect(() => server.change(misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });

  it("can be anything: rewritten, too large, or redirected at one of its places", async () => {
    const server = await start({
      metadataAt: ["oauth", "openid"],
      rewrite: (answer, { endpoint }) =>
        endpoint === "metadata" ? { status: 200, body: "x".repeat(2 ** 20) } : answer,
    });
    expect((await (await fetch(`${server.issuer}${WELL_KNOWN}`)).text()).length).toBe(2 ** 20);
    const path = "/.well-known/openid-configuration";
    const headers = { Location: "http://10.0.0.1/" };
    server.addFault({ endpoint: "metadata", path, kind: "status", status: 302, headers });
    expect((await fetch(`${server.issuer}${WELL_KNOWN}`, { redirect: "manual" })).status).toBe(200);
    const redirect = await fetch(`${server.issuer}${path}`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "http://10.0.0.1/"]);
  });
});

describe("AuthorizationServer grants", () => {
  it("gives tokens to a client that has a secret, for itself, and only where that is allowed", async () => {
    const server = await start();
    const form = {
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: "s",
      scope: "a",
      resource: "r:/",
    };
    expect(await ask(server, form)).toBe("unsupported_grant_type");
    server.change({ allowsClientCredentials: true });
    expect(await ask(server, form)).toMatchObject({ token_type: "Bearer", scope: "a" });
    expect(server.tokens).toMatchObject([{ kind: "access", clientId: "app", resources: ["r:/"] }]);
    expect(await ask(server, { grant_type: "client_credentials", client_id: "token-client" })).toBe(
      "unauthorized_client",
    );
  });

  it("takes a client's assertion by its key, and by the ways that it takes at all", async () => {
    const clients = [{ clientId: "signer", publicKey: key.pem, redirectUris: [] }];
    const server = await start({ clients, allowsClientCredentials: true });
    const claims = { iss: "signer", sub: "signer", aud: server.issuer, exp: Date.now() / 1_000 + 60, jti: "1" };
    const askAs = (changes: object, by = key): Promise<unknown> =>
      ask(server, {
        grant_type: "client_credentials",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: by.sign({ ...claims, ...changes }),
      });
    expect(await askAs({})).toMatchObject({ token_type: "Bearer" });
    expect(await askAs({ aud: [server.issuer] })).toMatchObject({ token_type: "Bearer" });
    const wrong = [{ iss: "x" }, { sub: "x" }, { aud: `${server.issuer}/token` }, { exp: 1 }, { jti: undefined }];
    for (const changes of wrong) expect(await askAs(changes)).toBe("invalid_client");
    expect(await askAs({}, new TestKey())).toBe("invalid_client");
    expect(await ask(server, { grant_type: "client_credentials", client_id: "signer" })).toBe("invalid_client");
    server.change({ authenticationMethods: ["none"] });
    expect(await askAs({})).toBe("invalid_client");
  });

  it("asks functions for assertions and exchanges", async () => {
    const server = await start({
      judgeAssertion: (assertion, { clientId }) =>
        assertion === "good" ? { subject: clientId ?? "workload", scopes: ["w"] } : { error: "invalid_scope" },
      exchangeToken: ({ clientId, parameters }) =>
        clientId === "app"
          ? { token: `jag of ${String(parameters["subject_token"])}`, issuedTokenType: "t:jag" }
          : { error: "invalid_request" },
    });
    expect(await ask(server, { grant_type: JWT_BEARER, assertion: "good" })).toMatchObject({ scope: "w" });
    expect(server.tokens).toMatchObject([{ subject: "workload", clientId: "" }]);
    expect(await ask(server, { grant_type: JWT_BEARER, assertion: "bad" })).toBe("invalid_scope");
    expect(await ask(server, { grant_type: JWT_BEARER })).toBe("invalid_request");
    const exchange = { grant_type: TOKEN_EXCHANGE, subject_token: "id", client_id: "app" };
    expect(await ask(server, { ...exchange, client_secret: "s" })).toEqual({
      access_token: "jag of id",
      issued_token_type: "t:jag",
      token_type: "N_A",
    });
    expect(await ask(server, exchange)).toBe("invalid_client");
    expect(await ask(server, { grant_type: TOKEN_EXCHANGE })).toBe("invalid_request");
  });

  it("knows clients by the URL of their document, which must name itself", async () => {
    const good = "https://app.test/client.json";
    const documents: Record<string, unknown> = {
      [good]: { client_id: good, redirect_uris: TOKEN_CLIENT.redirectUris },
      "https://app.test/other.json": { client_id: good, redirect_uris: TOKEN_CLIENT.redirectUris },
    };
    const server = await start({ clients: [], findClientDocument: (url) => documents[url] });
    const visit = async (clientId: string): Promise<number> => {
      const challenge = { code_challenge: "x", code_challenge_method: "S256", response_type: "code" };
      const query = new URLSearchParams({ client_id: clientId, redirect_uri: "http://127.0.0.1:1/back", ...challenge });
      return (await fetch(`${server.issuer}/authorize?${String(query)}`, { redirect: "manual" })).status;
    };
    expect(await visit(good)).toBe(302);
    for (const url of ["https://app.test/other.json", "https://app.test/none", "https://app.test/", "app"]) {
      expect(await visit(url)).toBe(400);
    }
    expect(server.clients.map(({ clientId }) => clientId)).toEqual([good]);
    server.forgetClient(good);
    server.change({ findClientDocument: undefined });
    expect(await visit(good)).toBe(400);
  });

  it("gives refresh tokens only for offline_access when told so", async () => {
    const server = await start({ issuesRefreshTokens: "offline_access" });
    expect(await issueToken(server, { scope: "a" })).not.toHaveProperty("refresh_token");
    expect(await issueToken(server, { scope: "a offline_access" })).toHaveProperty("refresh_token");
  });

  it("changes what it answers to a token request, and tokens end when told so", async () => {
    const server = await start({
      rewrite: (answer, { endpoint }) =>
        endpoint === "token" ? { ...answer, body: { ...Object(answer.body), expires_in: "soon" } } : answer,
    });
    const { access_token: token, expires_in: soon, refresh_token: renewal } = await issueToken(server);
    expect([soon, server.isValid(String(token))]).toEqual(["soon", true]);
    server.expireNow(String(token));
    expect(server.isValid(String(token))).toBe(false);
    server.expireNow(String(renewal));
    const form = { grant_type: "refresh_token", client_id: "token-client", refresh_token: String(renewal) };
    expect(await ask(server, form)).toBe("invalid_grant");
  });
});

describe("proofs of possession", () => {
  it("bind tokens to a key at the token endpoint, and a public client's refresh tokens as well", async () => {
    const server = await start({ dpop: "required", demandsDpopNonce: true });
    const url = `${server.issuer}/token`;
    expect(await issueToken(server)).toMatchObject({ error: "invalid_dpop_proof" });
    const asked = await fetch(url, { method: "POST", headers: { DPoP: key.proof("POST", url) } });
    const nonce = asked.headers.get("dpop-nonce");
    expect([asked.status, await asked.json()]).toMatchObject([400, { error: "use_dpop_nonce" }]);
    const prove = (by = key): string => by.proof("POST", url, { claims: { nonce } });
    const issued = await issueToken(server, { proof: prove() });
    expect(issued).toMatchObject({ token_type: "DPoP" });
    const form = {
      grant_type: "refresh_token",
      client_id: "token-client",
      refresh_token: String(issued["refresh_token"]),
    };
    expect(await ask(server, form, prove(new TestKey()))).toBe("invalid_grant");
    expect(await ask(server, form, prove())).toMatchObject({ token_type: "DPoP" });
    server.renewDpopNonce();
    expect(await ask(server, form, prove())).toBe("use_dpop_nonce");
  });

  it("are asked for with every bound token at a protected server, and with a nonce when told so", async () => {
    const issuer = await start({ dpop: "supported" });
    const server = await ProtectedServer.start(likeModernServer(), {
      authorizationServers: [issuer],
      checksResource: false,
    });
    opened.push(server);
    const get = async (token: string, scheme: string, proof?: string): Promise<unknown> => {
      const headers = { Authorization: `${scheme} ${token}`, ...(proof === undefined ? {} : { DPoP: proof }) };
      const answer = await fetch(server.url, { headers });
      return answer.status === 401 ? answer.headers.get("www-authenticate")?.split(",")[0] : answer.status;
    };
    const bound = String(
      (await issueToken(issuer, { proof: key.proof("POST", `${issuer.issuer}/token`) }))["access_token"],
    );
    const prove = (by = key, claims = {}): string => by.proof("GET", server.url, { accessToken: bound, claims });
    // What the handler says to a GET.
    expect(await get(bound, "DPoP", prove())).toBe(405);
    expect(await get(bound, "Bearer", prove())).toBe('DPoP error="invalid_token"');
    expect(await get(bound, "DPoP")).toBe('DPoP error="invalid_dpop_proof"');
    expect(await get(bound, "DPoP", prove(new TestKey()))).toBe('DPoP error="invalid_token"');
    const bearer = String((await issueToken(issuer))["access_token"]);
    expect(await get(bearer, "Bearer")).toBe(405);
    expect(await get(bearer, "DPoP", prove())).toBe('Bearer error="invalid_token"');
    server.change({ requiresDpop: true, demandsDpopNonce: true });
    expect(await get(bearer, "Bearer")).toBe('DPoP error="invalid_token"');
    expect(await get(bound, "DPoP", prove())).toBe('DPoP error="use_dpop_nonce"');
    const headers = { Authorization: `DPoP ${bound}`, DPoP: prove() };
    const nonce = (await fetch(server.url, { headers })).headers.get("dpop-nonce");
    expect(await get(bound, "DPoP", prove(key, { nonce }))).toBe(405);
    server.renewDpopNonce();
    expect(await get(bound, "DPoP", prove(key, { nonce }))).toBe('DPoP error="use_dpop_nonce"');
  });
});
