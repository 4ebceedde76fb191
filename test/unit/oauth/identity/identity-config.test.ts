import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { clientMetadataDocument, resolveIdentity } from "../../../../src/oauth/identity/index.js";

const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const DOCUMENT = "https://app.example/oauth/client.json";

/** As a program without types could call it. */
function resolve(options: unknown): ReturnType<typeof resolveIdentity> {
  return Reflect.apply(resolveIdentity, undefined, [options]);
}

function failureOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("A-4: the options of the client's identity", () => {
  it.each([undefined, {}, { preRegistered: [] }, { preRegistered: undefined, registers: undefined }])(
    "%j: nothing is configured, and it registers",
    (options) => {
      expect(resolve(options)).toEqual({ preRegistered: [], metadataDocument: undefined, registers: true });
    },
  );

  it("are taken as they are", () => {
    const signingKey = { key: KEY.toString(), algorithm: "ES256", keyId: "k1" };
    const own = { issuer: "https://as.example/a", clientId: "one", clientSecret: "s", authMethod: "none" } as const;
    const other = {
      clientId: "two",
      signingKey,
      authMethod: "private_key_jwt",
      redirectUris: ["app.example:/back"],
    } as const;
    const { metadataDocument, preRegistered, registers } = resolveIdentity({
      preRegistered: [own, other],
      metadataDocument: DOCUMENT,
      registers: false,
    });
    expect({ metadataDocument, registers }).toEqual({ metadataDocument: DOCUMENT, registers: false });
    expect(preRegistered).toEqual([
      { ...own, signingKey: undefined, redirectUris: undefined },
      { ...other, issuer: undefined, clientSecret: undefined },
    ]);
  });

  it.each<[string, unknown, string, string?]>([
    ["an unknown name", { preregistered: [] }, "preregistered", "preRegistered"],
    ["no object", "sentinel", "identity"],
    ["a list", [], "identity"],
    ["registers", { registers: "no" }, "identity.registers"],
    ["clients that are no list", { preRegistered: { clientId: "a" } }, "identity.preRegistered"],
    ["a client that is none", { preRegistered: [{ clientId: "a" }, null] }, "identity.preRegistered[1]"],
    ["an unknown name of a client", { preRegistered: [{ clientID: "a" }] }, "clientID", "clientId"],
    ["no id", { preRegistered: [{}] }, "identity.preRegistered[0].clientId"],
    ["an empty id", { preRegistered: [{ clientId: "" }] }, "identity.preRegistered[0].clientId"],
    [
      "an empty secret",
      { preRegistered: [{ clientId: "a", clientSecret: "" }] },
      "identity.preRegistered[0].clientSecret",
    ],
    [
      "a secret that is no text",
      { preRegistered: [{ clientId: "a", clientSecret: 1 }] },
      "identity.preRegistered[0].clientSecret",
    ],
    [
      "an unknown method",
      { preRegistered: [{ clientId: "a", authMethod: "mac" }] },
      "identity.preRegistered[0].authMethod",
    ],
    [
      "Basic without a secret",
      { preRegistered: [{ clientId: "a", authMethod: "client_secret_basic" }] },
      "identity.preRegistered[0].authMethod",
    ],
    [
      "a form without a secret",
      { preRegistered: [{ clientId: "a", authMethod: "client_secret_post" }] },
      "identity.preRegistered[0].authMethod",
    ],
    [
      "an assertion without a key",
      { preRegistered: [{ clientId: "a", clientSecret: "s", authMethod: "private_key_jwt" }] },
      "identity.preRegistered[0].authMethod",
    ],
    ["an unknown name of a key", { preRegistered: [{ clientId: "a", signingKey: { key: KEY, kid: "k" } }] }, "kid"],
    [
      "a key that is none",
      { preRegistered: [{ clientId: "a", signingKey: { key: "sentinel" } }] },
      "identity.preRegistered[0].signingKey",
    ],
    [
      "a key that is no text",
      { preRegistered: [{ clientId: "a", signingKey: { key: 1 } }] },
      "identity.preRegistered[0].signingKey.key",
    ],
    ["no key", { preRegistered: [{ clientId: "a", signingKey: {} }] }, "identity.preRegistered[0].signingKey.key"],
    [
      "an algorithm that does not fit",
      { preRegistered: [{ clientId: "a", signingKey: { key: KEY, algorithm: "RS256" } }] },
      "identity.preRegistered[0].signingKey",
    ],
    [
      "a key's id that is no text",
      { preRegistered: [{ clientId: "a", signingKey: { key: KEY, keyId: 1 } }] },
      "identity.preRegistered[0].signingKey.keyId",
    ],
    [
      "an issuer that is no URL",
      { preRegistered: [{ clientId: "a", issuer: "sentinel" }] },
      "identity.preRegistered[0].issuer",
    ],
    [
      "an issuer over http",
      { preRegistered: [{ clientId: "a", issuer: "http://as.example" }] },
      "identity.preRegistered[0].issuer",
    ],
    [
      "an issuer with a query",
      { preRegistered: [{ clientId: "a", issuer: "https://as.example?a" }] },
      "identity.preRegistered[0].issuer",
    ],
    [
      "redirect URIs that are no list",
      { preRegistered: [{ clientId: "a", redirectUris: "app.example:/" }] },
      "identity.preRegistered[0].redirectUris",
    ],
    [
      "a redirect URI over http",
      { preRegistered: [{ clientId: "a", redirectUris: ["http://app.example/"] }] },
      "identity.preRegistered[0].redirectUris",
    ],
    [
      "a redirect URI with a fragment",
      { preRegistered: [{ clientId: "a", redirectUris: ["https://app.example/#"] }] },
      "identity.preRegistered[0].redirectUris",
    ],
    [
      "a redirect URI that runs",
      { preRegistered: [{ clientId: "a", redirectUris: ["javascript:alert(1)"] }] },
      "identity.preRegistered[0].redirectUris",
    ],
    [
      "two clients of one issuer",
      {
        preRegistered: [
          { clientId: "a", issuer: "https://as.example" },
          { clientId: "b" },
          { clientId: "c", issuer: "https://as.example" },
        ],
      },
      "identity.preRegistered[2]",
    ],
    [
      "two clients without an issuer",
      { preRegistered: [{ clientId: "a" }, { clientId: "b" }] },
      "identity.preRegistered[1]",
    ],
  ])("are refused: %s", (_title, options, option, suggestion) => {
    const failure = failureOf(() => resolve(options));
    expect(failure).toMatchObject({ code: "invalid_options", details: { option } });
    if (suggestion !== undefined) expect(failure).toMatchObject({ details: { suggestion } });
    expect(JSON.stringify(failure)).not.toContain("sentinel");
  });
});

describe("A-4: the URL of a metadata document", () => {
  it.each([
    DOCUMENT,
    "https://app.example:8443/a",
    "https://app.example/a?b=c",
    "https://app.example/a?b=/../c",
    "https://app.example/..a/.well-known/c",
    "https://app.example/a@b",
  ])("may be %s", (url) => {
    expect(resolveIdentity({ metadataDocument: url }).metadataDocument).toBe(url);
  });

  it.each([
    "",
    "client",
    "http://app.example/client.json",
    "http://localhost/client.json",
    "HTTPS://app.example/client.json",
    "https://app.example",
    "https://app.example/",
    "https://app.example/?a",
    "https://app.example?/a",
    "https://app.example/a#b",
    "https://app.example/a#",
    "https://me@app.example/a",
    "https://@app.example/a",
    "https://me:pw@app.example/a",
    "https://app.example/a/../b",
    "https://app.example/./a",
    "https://app.example/a/.",
    "https://app.example/a/..",
    "https://app.example/a/..?b",
    "https://app.example/a/b/..?c",
    "https://app.example/%2e%2E/a",
    "https://app.example/a/.%2e/b",
    "https://app.example\\a",
    " https://app.example/a",
    "https://app.example/a b",
    "https://app.example/\ta",
    "https://app.example/ä",
    7,
    new URL(DOCUMENT),
  ])("may not be %j", (url) => {
    expect(failureOf(() => resolve({ metadataDocument: url }))).toMatchObject({
      code: "invalid_options",
      details: { option: "identity.metadataDocument" },
    });
  });
});

describe("A-4: the metadata document", () => {
  const given = { url: DOCUMENT, clientName: "Example", redirectUris: ["http://127.0.0.1/callback"] };

  it("says who the client is, by its own URL", () => {
    expect(clientMetadataDocument(given)).toEqual({
      client_id: DOCUMENT,
      client_name: "Example",
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    });
  });

  it("says what else is told", () => {
    const redirectUris = ["https://app.example/callback"];
    const more = { clientUri: "https://app.example", logoUri: "https://app.example/l.png", scopes: ["a", "b"] };
    expect(clientMetadataDocument({ ...given, ...more, redirectUris })).toMatchObject({
      client_uri: "https://app.example",
      logo_uri: "https://app.example/l.png",
      redirect_uris: redirectUris,
      application_type: "web",
      scope: "a b",
    });
  });

  it.each<[object, string]>([
    [{ url: "https://app.example/" }, "url"],
    [{ clientName: "" }, "clientName"],
    [{ redirectUris: [] }, "redirectUris"],
    [{ redirectUris: ["http://app.example/"] }, "redirectUris"],
    [{ redirect_uris: [] }, "redirect_uris"],
  ])("is not made with %j", (change, option) => {
    const failure = failureOf(() => Reflect.apply(clientMetadataDocument, undefined, [{ ...given, ...change }]));
    expect(isRemoteConnectorError(failure, "invalid_options") && failure.details.option).toBe(option);
  });
});
