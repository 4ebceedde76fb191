import { generateKeyPairSync, randomBytes } from "node:crypto";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ServerMetadata } from "../../../src/oauth/authorization-server.js";
import { createDpopProver } from "../../../src/oauth/dpop/index.js";
import type { DpopProver } from "../../../src/oauth/dpop-prover.js";
import { registerClient } from "../../../src/oauth/identity/index.js";
import type { OAuthClient } from "../../../src/oauth/oauth-client.js";
import { createRequester } from "../../../src/oauth/requests/index.js";
import {
  isTransient,
  requestAssertion,
  requestToken,
  revokeToken,
  type TokenRequest,
} from "../../../src/oauth/token-endpoint/index.js";
import type { TokenSet } from "../../../src/oauth/token-set.js";
import { systemClock } from "../../../src/transport/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { httpAnswer, type RawRequest, RawServer } from "../../support/raw-server.js";

const NOW = 1_800_000_000_000;
const PORTS = { wallNow: () => NOW, randomBytes: (size: number): Uint8Array => randomBytes(size) };
const GRANT = { grant_type: "refresh_token", refresh_token: "rt-1", resource: "https://mcp.example/mcp?a=b&c" };
const KEYS = generateKeyPairSync("ec", { namedCurve: "P-256" });

let server: RawServer;
let requester: ReturnType<typeof createRequester>;
/** What is answered, in order; the last one again and again. */
let answers: (Buffer | ((request: RawRequest) => void))[];

beforeAll(async () => {
  server = await RawServer.start((request) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (typeof answer === "function") answer(request);
    else request.socket.write(answer ?? "");
  });
});
beforeEach(() => {
  server.requests.length = 0;
  requester = open();
});
afterEach(() => requester.close());
afterAll(() => server.close());

function open(clock = systemClock, requestTimeoutMs = 5_000): ReturnType<typeof createRequester> {
  return createRequester({
    allowedAddresses: "public_or_loopback",
    requestTimeoutMs,
    maxAnswerBytes: 4_096,
    clock,
  });
}

function issuer(): string {
  return `http://127.0.0.1:${String(server.port)}`;
}

function metadata(): ServerMetadata {
  const base = issuer();
  return {
    issuer: base,
    token_endpoint: `${base}/token`,
    revocation_endpoint: `${base}/revoke`,
    registration_endpoint: `${base}/register`,
  };
}

function client(change: Partial<OAuthClient> = {}): OAuthClient {
  return {
    kind: "dynamic",
    issuer: issuer(),
    clientId: "the client",
    clientSecret: "sentinel-secret:+%",
    secretExpiresAt: undefined,
    authMethod: "client_secret_basic",
    signingKey: undefined,
    redirectUris: [],
    ...change,
  };
}

function ask(change: Partial<TokenRequest> = {}, signal?: AbortSignal): Promise<TokenSet> {
  const request = { ...PORTS, server: metadata(), client: client(), step: "refresh", parameters: GRANT } as const;
  return requestToken(requester, { ...request, ...change }, signal);
}

function json(value: unknown, status = 200, headers = ""): Buffer {
  return httpAnswer(JSON.stringify(value), { status, headers });
}

function formOf(index: number): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(server.requests[index]?.body));
}

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const TOKEN = { access_token: "at-1", token_type: "bearer" };

describe("A-6: what a token endpoint is asked", () => {
  beforeEach(() => {
    answers = [json(TOKEN)];
  });

  it("is a form with the grant and the resource, as they are given", async () => {
    await ask();
    const [request] = server.requests;
    expect(request?.head).toMatch(/^POST \/token HTTP\/1\.1\r\n/);
    expect(request?.header("content-type")).toBe("application/x-www-form-urlencoded");
    expect(request?.header("accept")).toBe("application/json");
    expect(request?.header("dpop")).toBeUndefined();
    expect(formOf(0)).toEqual(GRANT);
  });

  it("names the client by Basic, and nowhere else", async () => {
    await ask();
    const [, encoded = ""] = server.requests[0]?.header("authorization")?.split("Basic ") ?? [];
    expect(Buffer.from(encoded, "base64").toString()).toBe("the%20client:sentinel-secret%3A%2B%25");
    expect(server.requests[0]?.body).not.toContain("sentinel");
  });

  it.each<[string, Partial<OAuthClient>, object]>([
    [
      "in the form",
      { authMethod: "client_secret_post" },
      { client_id: "the client", client_secret: "sentinel-secret:+%" },
    ],
    ["without its secret", { authMethod: "none" }, { client_id: "the client" }],
  ])("names the client %s", async (_title, change, shown) => {
    await ask({ client: client(change) });
    expect(formOf(0)).toEqual({ ...GRANT, ...shown });
    expect(server.requests[0]?.header("authorization")).toBeUndefined();
  });

  it("names the client by an assertion for this issuer", async () => {
    const key = KEYS.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await ask({ client: client({ authMethod: "private_key_jwt", signingKey: { key, keyId: "k" } }) });
    const { client_assertion: assertion = "", ...form } = formOf(0);
    expect(form).toEqual({
      ...GRANT,
      client_id: "the client",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    });
    const expected = { audience: issuer(), issuer: "the client", subject: "the client", currentDate: new Date(NOW) };
    await jwtVerify(assertion, KEYS.publicKey, expected);
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: "ES256", kid: "k" });
  });

  it("names nobody where there is no client", async () => {
    await ask({ client: undefined });
    expect(formOf(0)).toEqual(GRANT);
    expect(server.requests[0]?.header("authorization")).toBeUndefined();
  });

  it("A-4: is nothing for a client of another issuer", async () => {
    const other = "https://other.example";
    await expect(ask({ client: client({ issuer: other }) })).rejects.toMatchObject({
      code: "client_identity_required",
      delivery: "not_sent",
      details: { issuer: issuer(), reason: "other_issuer", configuredFor: [other] },
    });
    expect(server.requests).toEqual([]);
  });

  it("is nothing where there is no endpoint", async () => {
    await expect(ask({ server: { issuer: issuer() } })).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { subject: "server_metadata", member: "token_endpoint" },
    });
  });
});

describe("A-6: what a token endpoint answers", () => {
  it.each<[unknown, number | undefined]>([
    ["4200", NOW + 4_200_000],
    [4200, NOW + 4_200_000],
    [0, NOW],
    [-30, NOW],
    ["90s", undefined],
    [undefined, undefined],
  ])("expires, with expires_in %j", async (expiresIn, expiresAt) => {
    answers = [
      json({ access_token: "at-1", token_type: "BEARER", expires_in: expiresIn, scope: null, id_token: "e30.e30." }),
    ];
    expect(await ask()).toEqual({
      accessToken: "at-1",
      tokenType: "Bearer",
      expiresAt,
      refreshToken: undefined,
      scopes: undefined,
    });
  });

  it.each<[string, Buffer, object]>([
    ["no access_token", json({ token_type: "bearer", refresh_token: "sentinel" }), { code: "oauth_invalid" }],
    ["an error with 200", json({ error: "bad_sentinel_code" }), { code: "oauth_refused", details: { status: 200 } }],
    [
      "an error",
      json({ error: "invalid_grant" }, 400),
      { code: "oauth_refused", details: { errorCode: "invalid_grant" } },
    ],
    [
      "an error with a challenge",
      json({ error: "invalid_client" }, 401, "WWW-Authenticate: Basic realm=sentinel\r\n"),
      { code: "oauth_refused", details: { errorCode: "invalid_client", status: 401 } },
    ],
    [
      "a page",
      httpAnswer("<p>sentinel</p>", { type: "text/html", status: 502 }),
      { code: "oauth_refused", details: { status: 502 } },
    ],
    [
      "too much",
      json({ ...TOKEN, padding: "sentinel".repeat(1_000) }),
      { code: "limit_exceeded", details: { option: "maxAnswerBytes" } },
    ],
    ["a redirect", httpAnswer("", { status: 307, headers: "Location: /elsewhere\r\n" }), { code: "redirect_refused" }],
  ])("F-6: is an error: %s", async (_title, answer, expected) => {
    answers = [answer];
    const failure = await failureOf(ask());
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain("sentinel");
    expect(server.requests).toHaveLength(1);
  });

  it("may be JSON of any type", async () => {
    answers = [httpAnswer(JSON.stringify(TOKEN), { type: "text/html" })];
    expect(await ask()).toMatchObject({ accessToken: "at-1" });
  });

  it("passes, cut at every byte of it", async () => {
    const whole = json(TOKEN);
    let cut = 0;
    answers = [({ socket }) => socket.end(whole.subarray(0, cut))];
    for (cut = 0; cut < whole.length; cut += 1) {
      const failure = await failureOf(ask());
      expect(failure).toMatchObject({ code: "connection_broken", delivery: "unknown" });
      expect(isTransient(failure)).toBe(true);
    }
    expect(server.requests).toHaveLength(whole.length);
  });

  it("passes when it does not come in time", async () => {
    const clock = new FakeClock();
    await requester.close();
    requester = open(clock, 1_000);
    const asked = new Promise<void>((resolve) => {
      answers = [() => resolve()];
    });
    const failing = failureOf(ask());
    await asked;
    clock.step(1_000);
    const failure = await failing;
    expect(failure).toMatchObject({ code: "timeout", delivery: "unknown", details: { option: "requestTimeoutMs" } });
    expect(isTransient(failure)).toBe(true);
  });

  it("is not waited for by who has gone", async () => {
    const gone = new AbortController();
    answers = [() => gone.abort("gone")];
    expect(await failureOf(ask({}, gone.signal))).toBe("gone");
  });

  it("may be an assertion", async () => {
    const issued = {
      access_token: "a.b.c",
      token_type: "N_A",
      issued_token_type: "urn:id-jag",
      scope: "a",
      expires_in: 60,
    };
    answers = [json(issued)];
    const request = { ...PORTS, server: metadata(), client: client(), step: "assertion", parameters: GRANT } as const;
    expect(await requestAssertion(requester, request)).toEqual({
      assertion: "a.b.c",
      issuedTokenType: "urn:id-jag",
      scopes: ["a"],
      expiresAt: NOW + 60_000,
    });
    await expect(requestToken(requester, request)).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { member: "token_type" },
    });
  });
});

describe("A-9: DPoP at a token endpoint", () => {
  const REFUSED = { error: "use_dpop_nonce" };
  const BOUND = { access_token: "at-1", token_type: "DPoP" };
  let dpop: DpopProver;

  beforeEach(async () => {
    dpop = await createDpopProver({ algorithms: undefined, ...PORTS });
  });

  async function proofOf(index: number): Promise<Readonly<Record<string, unknown>>> {
    const proof = server.requests[index]?.header("dpop") ?? "";
    const { jwk } = decodeProtectedHeader(proof);
    const { payload } = await jwtVerify(proof, await importJWK(Object(jwk), "ES256"), { currentDate: new Date(NOW) });
    return payload;
  }

  it("proves the key, and takes a token for it or not", async () => {
    answers = [json(BOUND), json(TOKEN)];
    expect(await ask({ dpop })).toMatchObject({ tokenType: "DPoP" });
    expect(await proofOf(0)).toMatchObject({ htm: "POST", htu: `${issuer()}/token` });
    expect(await proofOf(0)).not.toHaveProperty("ath");
    expect(await ask({ dpop })).toMatchObject({ tokenType: "Bearer" });
  });

  it.each([400, 401])("asks once more with the nonce of a %i, and all that is made anew", async (status) => {
    const key = KEYS.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const signing = client({ authMethod: "private_key_jwt", signingKey: { key } });
    answers = [json(REFUSED, status, "DPoP-Nonce: n-1\r\n"), json(BOUND)];
    expect(await ask({ dpop, client: signing })).toMatchObject({ accessToken: "at-1" });
    const [first, second] = [await proofOf(0), await proofOf(1)];
    expect(first).not.toHaveProperty("nonce");
    expect(second).toMatchObject({ nonce: "n-1" });
    expect(second["jti"]).not.toBe(first["jti"]);
    expect(formOf(1)).toMatchObject(GRANT);
    expect(formOf(1)["client_assertion"]).not.toBe(formOf(0)["client_assertion"]);
  });

  it("does not go on for ever", async () => {
    let asked = 0;
    answers = [({ socket }) => socket.write(json(REFUSED, 400, `DPoP-Nonce: n-${String((asked += 1))}\r\n`))];
    await expect(ask({ dpop })).rejects.toMatchObject({
      code: "oauth_refused",
      details: { errorCode: "use_dpop_nonce" },
    });
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Buffer]>([
    ["without a nonce", json(REFUSED, 400)],
    ["for anything else", json({ error: "invalid_grant" }, 400, "DPoP-Nonce: n-1\r\n")],
    ["with a nonce that can't be sent", json(REFUSED, 400, "DPoP-Nonce: \r\n")],
  ])("asks once %s", async (_title, answer) => {
    answers = [answer];
    await expect(ask({ dpop })).rejects.toMatchObject({ code: "oauth_refused" });
    expect(server.requests).toHaveLength(1);
  });

  it("asks once who has no key", async () => {
    answers = [json(REFUSED, 400, "DPoP-Nonce: n-1\r\n")];
    await expect(ask()).rejects.toMatchObject({ code: "oauth_refused" });
    expect(server.requests).toHaveLength(1);
  });

  it("learns from every answer", async () => {
    answers = [
      json(BOUND, 200, "DPoP-Nonce: n-1\r\n"),
      json({ error: "invalid_grant" }, 400, "DPoP-Nonce: n-2\r\n"),
      json(BOUND),
    ];
    await ask({ dpop });
    await failureOf(ask({ dpop }));
    await ask({ dpop });
    expect(await proofOf(1)).toMatchObject({ nonce: "n-1" });
    expect(await proofOf(2)).toMatchObject({ nonce: "n-2" });
  });
});

describe("A-6: giving a token back", () => {
  const revoke = (change: object = {}): Promise<void> =>
    revokeToken(requester, { ...PORTS, server: metadata(), client: client(), token: "rt-1", ...change });

  it.each<[object, object]>([
    [{ hint: "refresh_token" }, { token: "rt-1", token_type_hint: "refresh_token" }],
    [{}, { token: "rt-1" }],
  ])("with %j", async (change, form) => {
    answers = [httpAnswer("")];
    await revoke(change);
    expect(server.requests[0]?.head).toMatch(/^POST \/revoke /);
    expect(server.requests[0]?.header("authorization")).toMatch(/^Basic /);
    expect(formOf(0)).toEqual(form);
  });

  it("is nothing where there is no endpoint", async () => {
    await revoke({ server: { issuer: issuer() } });
    expect(server.requests).toEqual([]);
  });

  it.each<[Buffer, object]>([
    [
      json({ error: "unsupported_token_type" }, 400),
      { step: "token", status: 400, errorCode: "unsupported_token_type" },
    ],
    [httpAnswer("<p>", { status: 503 }), { step: "token", status: 503 }],
  ])("may be refused", async (answer, details) => {
    answers = [answer];
    await expect(revoke()).rejects.toMatchObject({ code: "oauth_refused", details: { ...details, issuer: issuer() } });
  });
});

describe("A-4: registering", () => {
  const REGISTRATION = { clientName: "Exämple", redirectUris: ["http://127.0.0.1:1/callback"], scopes: ["a"] };
  const register = (change: object = {}): Promise<OAuthClient> =>
    registerClient(requester, { ...metadata(), ...change }, REGISTRATION, PORTS.wallNow);

  it("sends who the client is once, and makes a client of the answer", async () => {
    answers = [json({ client_id: "id", client_secret: "s", client_secret_expires_at: 0 }, 201)];
    expect(await register({ token_endpoint_auth_methods_supported: ["client_secret_post"] })).toEqual({
      kind: "dynamic",
      issuer: issuer(),
      clientId: "id",
      clientSecret: "s",
      secretExpiresAt: undefined,
      authMethod: "client_secret_post",
      signingKey: undefined,
      redirectUris: REGISTRATION.redirectUris,
    });
    const [request] = server.requests;
    expect(request?.head).toMatch(/^POST \/register /);
    expect(request?.header("content-type")).toBe("application/json");
    expect(request?.header("authorization")).toBeUndefined();
    expect(JSON.parse(request?.body ?? "")).toEqual({
      client_name: "Exämple",
      redirect_uris: REGISTRATION.redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
      application_type: "native",
      scope: "a",
    });
  });

  it.each<[string, Buffer, object]>([
    [
      "a refusal",
      json({ error: "invalid_redirect_uri" }, 400),
      { code: "oauth_refused", details: { step: "registration", errorCode: "invalid_redirect_uri" } },
    ],
    ["a redirect", httpAnswer("", { status: 308, headers: "Location: /r2\r\n" }), { code: "redirect_refused" }],
    ["no id", json({}, 201), { code: "oauth_invalid", details: { subject: "registration", member: "client_id" } }],
    ["too much", json({ client_id: "x".repeat(5_000) }, 201), { code: "limit_exceeded" }],
  ])("fails: %s", async (_title, answer, expected) => {
    answers = [answer];
    expect(await failureOf(register())).toMatchObject(expected);
    expect(server.requests).toHaveLength(1);
  });

  it("is nothing where nobody registers", async () => {
    await expect(register({ registration_endpoint: undefined })).rejects.toMatchObject({
      code: "client_identity_required",
      details: { reason: "none" },
    });
    expect(server.requests).toEqual([]);
  });
});
