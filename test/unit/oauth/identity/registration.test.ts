import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import type { ServerMetadata } from "../../../../src/oauth/authorization-server.js";
import { parseRegistration, type Registration, registrationBody } from "../../../../src/oauth/identity/registration.js";
import type { OAuthClient } from "../../../../src/oauth/oauth-client.js";

const ISSUER = "https://as.example";
const NOW = 1_800_000_000_000;
const NOW_S = NOW / 1_000;
const BACK = ["http://127.0.0.1:7777/callback"];

function bodyFor(methods: readonly string[] | undefined, registration: Partial<Registration> = {}): object {
  const server = { issuer: ISSUER, token_endpoint_auth_methods_supported: methods };
  return registrationBody({ clientName: "Example", redirectUris: BACK, ...registration }, server);
}

function read(
  answer: unknown,
  { status = 201, methods }: { status?: number; methods?: readonly string[] } = {},
): OAuthClient {
  const server: ServerMetadata = { issuer: ISSUER, token_endpoint_auth_methods_supported: methods };
  const body = registrationBody({ clientName: "Example", redirectUris: BACK }, server);
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  const whole = { url: `${ISSUER}/register?key=sentinel`, status, mediaType: "", headers: {}, body: Buffer.from(text) };
  return parseRegistration(whole, { server, body, redirectUris: BACK, wallNow: NOW });
}

function failureOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("A-4: the body of a registration", () => {
  it("says who the client is", () => {
    expect(bodyFor(undefined, { clientUri: "https://app.example", scopes: ["a", "b"] })).toEqual({
      client_name: "Example",
      client_uri: "https://app.example",
      redirect_uris: BACK,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_basic",
      application_type: "native",
      scope: "a b",
    });
    expect(bodyFor(undefined)).not.toHaveProperty("scope");
    expect(bodyFor(undefined)).not.toHaveProperty("client_uri");
  });

  it.each<[readonly string[] | undefined, Registration["authMethods"], string | undefined]>([
    [["none", "client_secret_post", "client_secret_basic"], undefined, "client_secret_basic"],
    [["none", "client_secret_post"], undefined, "client_secret_post"],
    [["private_key_jwt", "none"], undefined, "none"],
    [["private_key_jwt"], undefined, undefined],
    [[], undefined, undefined],
    [["client_secret_basic", "none"], ["none", "client_secret_basic"], "none"],
    [undefined, ["none"], undefined],
  ])("of %j and %j, asks for %s", (methods, authMethods, asked) => {
    expect(Reflect.get(bodyFor(methods, { authMethods }), "token_endpoint_auth_method")).toBe(asked);
  });

  it.each<[readonly string[], string]>([
    [["http://127.0.0.1:1/c"], "native"],
    [["http://localhost:1/c"], "native"],
    [["http://[::1]:1/c"], "native"],
    [["https://localhost/c"], "native"],
    [["com.example.app:/c"], "native"],
    [["https://app.example/c"], "web"],
    [["https://app.example/c", "https://app.example/d"], "web"],
    [["https://app.example/c", "http://127.0.0.1:1/c"], "native"],
    [["not a URL"], "native"],
    [[], "native"],
  ])("with %j, it is %s", (redirectUris, type) => {
    expect(bodyFor(undefined, { redirectUris })).toMatchObject({ application_type: type, redirect_uris: redirectUris });
  });
});

describe("A-4: the answer to a registration", () => {
  it.each([200, 201])("is a client, with %i", (status) => {
    const answer = {
      client_id: "id",
      client_secret: "s",
      client_secret_expires_at: NOW_S + 60,
      client_id_issued_at: 1,
    };
    expect(read(answer, { status })).toEqual({
      kind: "dynamic",
      issuer: ISSUER,
      clientId: "id",
      clientSecret: "s",
      secretExpiresAt: NOW + 60_000,
      authMethod: "client_secret_basic",
      signingKey: undefined,
      redirectUris: BACK,
    });
  });

  it.each<[unknown, number | undefined]>([
    [undefined, undefined],
    [null, undefined],
    [0, undefined],
    [-1, undefined],
    ["0", undefined],
    [String(NOW_S + 60), undefined],
    ["never", undefined],
    [{}, undefined],
    [3600, undefined],
    [NOW_S, undefined],
    [1e300, undefined],
    [NOW_S + 0.5, NOW + 500],
    [NOW_S + 1, NOW + 1_000],
  ])("with the secret's end at %j", (end, secretExpiresAt) => {
    expect(read({ client_id: "id", client_secret: "s", client_secret_expires_at: end }).secretExpiresAt).toBe(
      secretExpiresAt,
    );
  });

  it.each<[string, object, readonly string[] | undefined, string, string | undefined]>([
    [
      "as it says",
      { client_secret: "s", token_endpoint_auth_method: "client_secret_post" },
      undefined,
      "client_secret_post",
      "s",
    ],
    [
      "as it says, against what was asked for",
      { client_secret: "s", token_endpoint_auth_method: "client_secret_basic" },
      ["none"],
      "client_secret_basic",
      "s",
    ],
    [
      "without a secret that it does not want",
      { client_secret: "s", token_endpoint_auth_method: "none" },
      undefined,
      "none",
      undefined,
    ],
    ["as was asked for", { client_secret: "s" }, ["client_secret_post"], "client_secret_post", "s"],
    ["as was asked for, which is nothing", { client_secret: "s" }, ["none"], "none", undefined],
    [
      "without the secret that is missing",
      { token_endpoint_auth_method: "client_secret_basic" },
      undefined,
      "none",
      undefined,
    ],
    ["without a secret that is null", { client_secret: null }, undefined, "none", undefined],
    [
      "without a secret that is empty",
      { client_secret: "", token_endpoint_auth_method: "client_secret_post" },
      undefined,
      "none",
      undefined,
    ],
    [
      "by no method that it can't do",
      { client_secret: "s", token_endpoint_auth_method: "client_secret_jwt" },
      ["client_secret_post"],
      "client_secret_post",
      "s",
    ],
    [
      "by no method that is no text",
      { client_secret: "s", token_endpoint_auth_method: ["none"] },
      ["client_secret_post"],
      "client_secret_post",
      "s",
    ],
  ])("authenticates %s", (_title, members, methods, authMethod, clientSecret) => {
    const options = methods === undefined ? {} : { methods };
    expect(read({ client_id: "id", ...members }, options)).toMatchObject({ authMethod, clientSecret });
  });

  it.each<[string, unknown, number, string]>([
    ["no id", {}, 201, "client_id"],
    ["an empty id", { client_id: "" }, 201, "client_id"],
    ["an id that is no text", { client_id: 7 }, 200, "client_id"],
    ["a secret that is no text", { client_id: "id", client_secret: 7 }, 201, "client_secret"],
    ["no JSON", "<p>sentinel</p>", 200, ""],
    ["a list", [], 201, ""],
    ["nothing", "", 201, ""],
    ["half of it", '{"client_id":"sentinel', 201, ""],
  ])("can't be used: %s", (_title, answer, status, member) => {
    const failure = failureOf(() => read(answer, { status }));
    const details = { subject: "registration", url: `${ISSUER}/register?key=…`, member };
    expect(failure).toMatchObject({ code: "oauth_invalid", delivery: "answered", details });
    expect(JSON.stringify(failure)).not.toContain("sentinel");
  });

  it.each<[unknown, number, string | undefined, string]>([
    [{ error: "invalid_redirect_uri", error_description: "sentinel" }, 400, "invalid_redirect_uri", "answered"],
    [{ error: "invalid_client_metadata" }, 400, "invalid_client_metadata", "answered"],
    [{ error: "invalid_client_metadata" }, 200, "invalid_client_metadata", "answered"],
    [{ error: "access_denied" }, 403, "access_denied", "answered"],
    [{ error: "sentinel" }, 400, undefined, "answered"],
    [{ error: "server_error" }, 500, undefined, "unknown"],
    [{ client_id: "sentinel" }, 202, undefined, "answered"],
    [{ client_id: "sentinel" }, 400, undefined, "answered"],
    ["<p>sentinel</p>", 404, undefined, "answered"],
    ["", 204, undefined, "unknown"],
  ])("is a refusal: %j with %i", (answer, status, errorCode, delivery) => {
    const failure = failureOf(() => read(answer, { status }));
    expect(failure).toMatchObject({ code: "oauth_refused", delivery });
    const known = { step: "registration", issuer: ISSUER, status };
    expect(isRemoteConnectorError(failure) && failure.details).toEqual(
      errorCode === undefined ? known : { ...known, errorCode },
    );
    expect(JSON.stringify(failure)).not.toContain("sentinel");
  });

  it("fails only in two ways, whatever comes", () => {
    const names = fc.constantFrom(
      "client_id",
      "client_secret",
      "client_secret_expires_at",
      "token_endpoint_auth_method",
      "error",
    );
    const answers = fc.oneof(fc.dictionary(names, fc.jsonValue()), fc.jsonValue(), fc.string());
    fc.assert(
      fc.property(answers, fc.integer({ min: 200, max: 599 }), (answer, status) => {
        const outcome = failureOf(() => read(answer, { status }));
        if (isRemoteConnectorError(outcome)) expect(["oauth_invalid", "oauth_refused"]).toContain(outcome.code);
        else expect(outcome).toMatchObject({ kind: "dynamic", issuer: ISSUER });
      }),
    );
  });
});
