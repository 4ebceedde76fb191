import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDpopProver } from "../../../src/oauth/dpop/index.js";
import { type ServiceContext, serviceToken } from "../../../src/oauth/grants/index.js";
import type { OAuthClient } from "../../../src/oauth/oauth-client.js";
import type { ServiceGrant } from "../../../src/oauth/oauth-options.js";
import { createRequester } from "../../../src/oauth/requests/index.js";
import { systemClock } from "../../../src/transport/index.js";

const NOW = 1_790_000_000_000;
const RESOURCE = "https://mcp.test/mcp";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN = { access_token: "at-1", token_type: "Bearer", expires_in: 60 };
const JAG = { access_token: "jag.jag.jag", issued_token_type: ID_JAG, token_type: "N_A", expires_in: 300 };
/** Everything that may be seen by one party alone. */
const SECRETS = ["as-secret", "idp-secret", "id.token.secret", "jag.jag.jag"];

interface Heard {
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

interface Said {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A token endpoint on a socket of its own. It gives the answers in order, then 599. */
class TokenEndpoint {
  readonly heard: Heard[] = [];
  answers: Said[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
        this.heard.push({ form, headers: request.headers });
        const { headers, json, status, text } = this.answers.shift() ?? { status: 599 };
        response.writeHead(status ?? 200, { "Content-Type": "application/json", ...headers });
        response.end(text ?? JSON.stringify(json ?? {}));
      });
    });
  }

  get origin(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? String(address.port) : ""}`;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

let as: TokenEndpoint;
let idp: TokenEndpoint;
let requester: ReturnType<typeof createRequester>;

beforeEach(async () => {
  [as, idp] = [new TokenEndpoint(), new TokenEndpoint()];
  await Promise.all([as.open(), idp.open()]);
  requester = createRequester({
    allowedAddresses: "public_or_loopback",
    ca: undefined,
    lookup: undefined,
    proxy: undefined,
    requestTimeoutMs: 5_000,
    maxAnswerBytes: 65_536,
    clock: systemClock,
  });
});
afterEach(async () => {
  await requester.close();
  await Promise.all([as.close(), idp.close()]);
});

function clientOf(changes: Partial<OAuthClient> = {}): OAuthClient {
  return {
    kind: "pre_registered",
    issuer: as.origin,
    clientId: "client-1",
    clientSecret: "as-secret",
    secretExpiresAt: undefined,
    authMethod: "client_secret_basic",
    signingKey: undefined,
    redirectUris: [],
    ...changes,
  };
}

function contextOf(changes: Partial<ServiceContext> = {}): ServiceContext {
  return {
    server: { source: "document", metadata: { issuer: as.origin, token_endpoint: `${as.origin}/token` } },
    client: clientOf(),
    resource: RESOURCE,
    endpoint: new URL(RESOURCE),
    scopes: ["read", "write"],
    dpop: undefined,
    wallNow: () => NOW,
    randomBytes,
    ...changes,
  };
}

function basicOf(heard: Heard | undefined): string {
  return Buffer.from(heard?.headers.authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const failure: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  const shown = `${JSON.stringify(failure)} ${failure instanceof Error ? `${failure.message} ${String(failure.cause)}` : ""}`;
  for (const secret of SECRETS) expect(shown).not.toContain(secret);
  return failure;
}

describe("client credentials", () => {
  const grant: ServiceGrant = { kind: "client_credentials" };

  it("A-9: are shown by Basic, with the resource and the scopes, and nothing else", async () => {
    as.answers = [{ json: { ...TOKEN, scope: "read" } }];
    expect(await serviceToken(requester, grant, contextOf())).toEqual({
      accessToken: "at-1",
      tokenType: "Bearer",
      expiresAt: NOW + 60_000,
      refreshToken: undefined,
      scopes: ["read"],
    });
    expect(as.heard.map(({ form }) => form)).toEqual([
      { grant_type: "client_credentials", resource: RESOURCE, scope: "read write" },
    ]);
    expect(basicOf(as.heard[0])).toBe("client-1:as-secret");
  });

  it("A-9: are shown in the body where the client is registered so", async () => {
    as.answers = [{ json: TOKEN }];
    const client = clientOf({ authMethod: "client_secret_post" });
    await serviceToken(requester, grant, contextOf({ client, resource: undefined, scopes: [] }));
    expect(as.heard.map(({ form }) => form)).toEqual([
      { grant_type: "client_credentials", client_id: "client-1", client_secret: "as-secret" },
    ]);
    expect(as.heard[0]?.headers.authorization).toBeUndefined();
  });

  it("A-9: are an assertion for the issuer, signed by the client's key, for private_key_jwt", async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair("ES256", { extractable: true });
    as.answers = [{ json: TOKEN }];
    const signingKey = { key: await jose.exportPKCS8(privateKey), algorithm: "ES256", keyId: "k1" };
    const client = clientOf({ authMethod: "private_key_jwt", clientSecret: undefined, signingKey });
    await serviceToken(requester, grant, contextOf({ client }));
    const { client_assertion: assertion = "", ...form } = as.heard[0]?.form ?? {};
    expect(form).toMatchObject({
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      resource: RESOURCE,
    });
    expect(form).not.toHaveProperty("client_secret");
    const verified = await jose.jwtVerify(assertion, publicKey, { audience: as.origin, currentDate: new Date(NOW) });
    expect([verified.payload.iss, verified.payload.sub]).toEqual(["client-1", "client-1"]);
    expect(verified.protectedHeader.kid).toBe("k1");
  });

  it("A-9: leave a refresh token that comes along where it is", async () => {
    as.answers = [{ json: { ...TOKEN, refresh_token: "rt-1" } }];
    expect(await serviceToken(requester, grant, contextOf())).toMatchObject({ refreshToken: undefined });
  });

  it("A-9: are asked for also where grant_types_supported lacks them: the server's refusal says it", async () => {
    as.answers = [{ status: 400, json: { error: "unsupported_grant_type" } }];
    const { metadata } = contextOf().server;
    const server = {
      source: "document",
      metadata: { ...metadata, grant_types_supported: ["authorization_code"] },
    } as const;
    expect(await failureOf(serviceToken(requester, grant, contextOf({ server })))).toMatchObject({
      code: "oauth_refused",
      delivery: "answered",
      details: { step: "token", issuer: as.origin, errorCode: "unsupported_grant_type", status: 400 },
    });
    expect(as.heard).toHaveLength(1);
  });

  it("A-4: of a client of another issuer are sent to nobody", async () => {
    const client = clientOf({ issuer: "https://other.test" });
    expect(await failureOf(serviceToken(requester, grant, contextOf({ client })))).toMatchObject({
      code: "client_identity_required",
      details: { reason: "other_issuer" },
    });
    expect(as.heard).toHaveLength(0);
  });

  it("A-9: with DPoP are asked for twice when a nonce is asked for, with another proof, and no more than twice", async () => {
    const dpop = await createDpopProver({ algorithms: ["ES256"], wallNow: () => NOW, randomBytes });
    const challenge = (nonce: string): Said => ({
      status: 400,
      json: { error: "use_dpop_nonce" },
      headers: { "DPoP-Nonce": nonce },
    });
    as.answers = [challenge("n1"), { json: { ...TOKEN, token_type: "DPoP" } }];
    expect(await serviceToken(requester, grant, contextOf({ dpop }))).toMatchObject({ tokenType: "DPoP" });
    const proofs = as.heard.map(({ headers }) => jose.decodeJwt(String(headers["dpop"])));
    expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, "n1"]);
    for (const { htm, htu } of proofs) expect([htm, htu]).toEqual(["POST", `${as.origin}/token`]);
    expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(2);
    as.answers = [challenge("n2"), challenge("n3"), { json: TOKEN }];
    expect(await failureOf(serviceToken(requester, grant, contextOf({ dpop })))).toMatchObject({
      code: "oauth_refused",
      details: { errorCode: "use_dpop_nonce" },
    });
    expect(as.heard).toHaveLength(4);
  });
});

describe("enterprise-managed authorization", () => {
  function grantOf(changes: Partial<ServiceGrant & { kind: "enterprise_managed" }> = {}): ServiceGrant {
    return {
      kind: "enterprise_managed",
      tokenEndpoint: `${idp.origin}/oauth2/token?tenant=1`,
      clientId: "idp-client",
      clientSecret: "idp-secret",
      idToken: () => "id.token.secret\n",
      ...changes,
    };
  }

  it("A-9: shows the ID token to the identity provider alone, and its ID-JAG to the authorization server alone", async () => {
    idp.answers = [{ json: JAG }];
    as.answers = [{ json: TOKEN }];
    const tokens = await serviceToken(requester, grantOf(), contextOf({ resource: "https://mcp.test/" }));
    expect(tokens).toEqual({
      accessToken: "at-1",
      tokenType: "Bearer",
      expiresAt: NOW + 60_000,
      refreshToken: undefined,
      scopes: undefined,
    });
    expect(idp.heard.map(({ form }) => form)).toEqual([
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: ID_JAG,
        audience: as.origin,
        resource: "https://mcp.test/",
        scope: "read write",
        subject_token: "id.token.secret",
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        client_id: "idp-client",
        client_secret: "idp-secret",
      },
    ]);
    expect(idp.heard[0]?.headers.authorization).toBeUndefined();
    expect(as.heard.map(({ form }) => form)).toEqual([
      { grant_type: JWT_BEARER, assertion: "jag.jag.jag", resource: "https://mcp.test/", scope: "read write" },
    ]);
    expect(basicOf(as.heard[0])).toBe("client-1:as-secret");
  });

  it("A-9: shows the secret to an identity provider that takes it so by Basic", async () => {
    idp.answers = [{ json: JAG }];
    as.answers = [{ json: TOKEN }];
    await serviceToken(requester, grantOf({ authMethod: "client_secret_basic" }), contextOf());
    expect(basicOf(idp.heard[0])).toBe("idp-client:idp-secret");
    for (const member of ["client_id", "client_secret"]) expect(idp.heard[0]?.form).not.toHaveProperty(member);
  });

  it("A-9: asks for the ID token and the ID-JAG anew each time", async () => {
    let asked = 0;
    const grant = grantOf({ idToken: () => Promise.resolve(`id-${String((asked += 1))}`) });
    idp.answers = [{ json: { ...JAG, access_token: "jag-1" } }, { json: { ...JAG, access_token: "jag-2" } }];
    as.answers = [{ json: TOKEN }, { json: TOKEN }];
    for (const _ of [1, 2]) await serviceToken(requester, grant, contextOf());
    expect(idp.heard.map(({ form }) => form["subject_token"])).toEqual(["id-1", "id-2"]);
    expect(as.heard.map(({ form }) => form["assertion"])).toEqual(["jag-1", "jag-2"]);
  });

  it("A-9: asks the authorization server for no more than the ID-JAG is for", async () => {
    idp.answers = [{ json: { ...JAG, scope: "read" } }];
    as.answers = [{ json: TOKEN }];
    expect(await serviceToken(requester, grantOf(), contextOf())).toMatchObject({ scopes: ["read"] });
    expect(as.heard[0]?.form["scope"]).toBe("read");
  });

  it("A-9: names a resource to the identity provider also where none is sent, and proves no key to it", async () => {
    const dpop = await createDpopProver({ algorithms: undefined, wallNow: () => NOW, randomBytes });
    idp.answers = [{ json: JAG }];
    as.answers = [{ json: { ...TOKEN, token_type: "DPoP" } }];
    const grant = grantOf({ clientId: undefined, clientSecret: undefined });
    const endpoint = new URL("https://MCP.test/#part");
    await serviceToken(requester, grant, contextOf({ dpop, endpoint, resource: undefined, scopes: [] }));
    expect(idp.heard[0]?.form).toMatchObject({ resource: "https://mcp.test" });
    for (const member of ["scope", "client_id", "client_secret"]) expect(idp.heard[0]?.form).not.toHaveProperty(member);
    expect(idp.heard[0]?.headers["dpop"]).toBeUndefined();
    expect(as.heard[0]?.form).toEqual({ grant_type: JWT_BEARER, assertion: "jag.jag.jag" });
    expect(as.heard[0]?.headers["dpop"]).toEqual(expect.any(String));
  });

  it.each([
    ["a refusal", { status: 400, json: { error: "invalid_grant" } }, { errorCode: "invalid_grant", status: 400 }],
    ["a client that is not known", { status: 401, json: { error: "invalid_client" } }, { errorCode: "invalid_client" }],
    ["a failure", { status: 503, text: "<html>" }, { status: 503 }],
    ["the ID token for an error", { status: 400, json: { error: "id.token.secret" } }, { status: 400 }],
  ])(
    "A-9: an identity provider that answers with %s is not asked again, and nobody else is",
    async (_, said, details) => {
      idp.answers = [said, { json: JAG }];
      as.answers = [{ json: TOKEN }];
      const failure = await failureOf(serviceToken(requester, grantOf(), contextOf()));
      expect(failure).toMatchObject({
        code: "oauth_refused",
        details: { step: "assertion", issuer: idp.origin, ...details },
      });
      expect([idp.heard.length, as.heard.length]).toEqual([1, 0]);
    },
  );

  it.each([
    [
      "an access token",
      { ...JAG, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" },
      "issued_token_type",
    ],
    ["no type", { access_token: "jag.jag.jag", token_type: "N_A" }, "issued_token_type"],
    ["no token", { issued_token_type: ID_JAG, token_type: "N_A" }, "access_token"],
  ])("A-9: an identity provider's %s is shown to nobody", async (_, json, member) => {
    idp.answers = [{ json }];
    as.answers = [{ json: TOKEN }];
    const failure = await failureOf(serviceToken(requester, grantOf(), contextOf()));
    expect(failure).toMatchObject({
      code: "oauth_invalid",
      delivery: "answered",
      details: { subject: "token", member },
    });
    expect([idp.heard.length, as.heard.length]).toEqual([1, 0]);
  });

  it("A-9: an ID-JAG that is refused is not shown again, and no other is asked for", async () => {
    idp.answers = [{ json: JAG }, { json: JAG }];
    as.answers = [{ status: 400, json: { error: "invalid_grant" } }, { json: TOKEN }];
    expect(await failureOf(serviceToken(requester, grantOf(), contextOf()))).toMatchObject({
      code: "oauth_refused",
      details: { step: "token", issuer: as.origin, errorCode: "invalid_grant" },
    });
    expect([idp.heard.length, as.heard.length]).toEqual([1, 1]);
  });

  it("A-11: an identity provider that redirects is not followed", async () => {
    idp.answers = [{ status: 307, headers: { Location: `${as.origin}/token` } }];
    expect(await failureOf(serviceToken(requester, grantOf(), contextOf()))).toMatchObject({
      code: "redirect_refused",
    });
    expect(as.heard).toHaveLength(0);
  });

  it.each([
    ["http://idp.test/token", "invalid_url"],
    ["file:///etc/passwd", "invalid_url"],
    ["https://user:idp-secret@idp.test/token", "invalid_url"],
    ["token", "invalid_options"],
  ])("A-11: an identity provider at %s is sent nothing", async (tokenEndpoint, code) => {
    expect(await failureOf(serviceToken(requester, grantOf({ tokenEndpoint }), contextOf()))).toMatchObject({ code });
    expect(as.heard).toHaveLength(0);
  });

  it("A-9: without a client nobody is asked for anything", async () => {
    let wasAsked = false;
    const idToken = (): string => {
      wasAsked = true;
      return "id.token.secret";
    };
    const failure = await failureOf(serviceToken(requester, grantOf({ idToken }), contextOf({ client: undefined })));
    expect(failure).toMatchObject({ code: "client_identity_required", details: { issuer: as.origin, reason: "none" } });
    expect([wasAsked, idp.heard.length, as.heard.length]).toEqual([false, 0, 0]);
  });

  it("A-9: without an ID token nobody is sent anything", async () => {
    const cause = new Error("signed out");
    const grant = grantOf({ idToken: () => Promise.reject(cause) });
    await expect(serviceToken(requester, grant, contextOf())).rejects.toMatchObject({
      code: "authorize_failed",
      cause,
    });
    expect([idp.heard.length, as.heard.length]).toEqual([0, 0]);
  });

  it("A-9: ends with the signal's reason, wherever it is", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    idp.answers = [{ json: JAG }];
    const grant = grantOf({
      idToken: () => {
        controller.abort(reason);
        return "id.token.secret";
      },
    });
    await expect(serviceToken(requester, grant, contextOf(), controller.signal)).rejects.toBe(reason);
    expect([idp.heard.length, as.heard.length]).toEqual([0, 0]);
  });
});

describe("workload identity", () => {
  type Workload = Extract<ServiceGrant, { kind: "workload_identity" }>;
  let grant: Workload;
  beforeEach(() => {
    grant = { kind: "workload_identity", assertion: () => "work.load.jwt", issuer: as.origin };
  });
  const jwtFor = (claims: unknown): string =>
    ["{}", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".");

  it("A-9: is the workload's own JWT, without a client", async () => {
    as.answers = [{ json: TOKEN }];
    expect(await serviceToken(requester, grant, contextOf({ client: undefined }))).toMatchObject({
      accessToken: "at-1",
    });
    expect(as.heard.map(({ form }) => form)).toEqual([
      { grant_type: JWT_BEARER, assertion: "work.load.jwt", resource: RESOURCE, scope: "read write" },
    ]);
    expect(as.heard[0]?.headers.authorization).toBeUndefined();
  });

  it("A-9: is sent to nobody but the issuer that it is for, whatever it says itself, and not asked for then", async () => {
    let wasAsked = false;
    const assertion = (): string => {
      wasAsked = true;
      return jwtFor({ aud: as.origin });
    };
    const elsewhere = { ...grant, assertion, issuer: "https://other.test" };
    for (const client of [undefined, clientOf()]) {
      expect(await failureOf(serviceToken(requester, elsewhere, contextOf({ client })))).toMatchObject({
        code: "client_identity_required",
        details: { issuer: as.origin, reason: "other_issuer", configuredFor: ["https://other.test"] },
      });
    }
    expect([wasAsked, as.heard.length]).toEqual([false, 0]);
  });

  it("A-9: without such an issuer is sent to an audience of its own alone: an MCP server names whom it likes", async () => {
    const said = (claims: unknown): Workload => ({ kind: "workload_identity", assertion: () => jwtFor(claims) });
    const context = contextOf({ client: undefined });
    for (const aud of [as.origin, `${as.origin}/`, `${as.origin}/token`, ["https://other.test", as.origin]]) {
      as.answers = [{ json: TOKEN }];
      expect(await serviceToken(requester, said({ aud }), context)).toMatchObject({ accessToken: "at-1" });
    }
    const heard = as.heard.length;
    const others = [{ aud: "https://other.test" }, { aud: `${as.origin}.test` }, { aud: [1, null] }, {}, [], null];
    const texts = ["work.load.jwt", jwtFor({ aud: as.origin }).replace(/\.[^.]*$/, "")];
    for (const workload of [
      ...others.map(said),
      ...texts.map((text) => ({ ...grant, issuer: undefined, assertion: () => text })),
    ]) {
      expect(await failureOf(serviceToken(requester, workload, context))).toMatchObject({
        code: "client_identity_required",
        details: { issuer: as.origin, reason: "other_issuer" },
      });
    }
    expect(as.heard).toHaveLength(heard);
  });

  it("A-9: names the client where there is one that has no secret", async () => {
    as.answers = [{ json: TOKEN }];
    const client = clientOf({ authMethod: "none", clientSecret: undefined });
    await serviceToken(requester, grant, contextOf({ client, resource: undefined, scopes: [] }));
    expect(as.heard.map(({ form }) => form)).toEqual([
      { grant_type: JWT_BEARER, assertion: "work.load.jwt", client_id: "client-1" },
    ]);
    expect(as.heard[0]?.headers.authorization).toBeUndefined();
  });

  it.each(["invalid_grant", "invalid_scope", "unauthorized_client", "invalid_client", "unsupported_grant_type"])(
    "A-9: that is refused with %s is not tried again, nor anything else",
    async (error) => {
      as.answers = [{ status: 400, json: { error } }, { json: TOKEN }];
      expect(await failureOf(serviceToken(requester, grant, contextOf()))).toMatchObject({
        code: "oauth_refused",
        delivery: "answered",
        details: { step: "token", issuer: as.origin, errorCode: error, status: 400 },
      });
      expect(as.heard.map(({ form }) => form["grant_type"])).toEqual([JWT_BEARER]);
    },
  );

  it("A-9: is not tried again after a failure of the server either", async () => {
    as.answers = [{ status: 503, text: "" }, { json: TOKEN }];
    expect(await failureOf(serviceToken(requester, grant, contextOf()))).toMatchObject({ details: { status: 503 } });
    expect(as.heard).toHaveLength(1);
  });
});
