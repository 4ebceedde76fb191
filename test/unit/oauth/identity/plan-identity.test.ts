import { describe, expect, it } from "vitest";
import { planIdentity, resolveIdentity } from "../../../../src/oauth/identity/index.js";
import type { IdentityFacts } from "../../../../src/oauth/identity/index.js";
import type { OAuthClient } from "../../../../src/oauth/oauth-client.js";
import type { ClientIdentityOptions } from "../../../../src/oauth/oauth-options.js";

const HERE = "https://as.example";
const THERE = "https://other.example";
const DOCUMENT = "https://app.example/client.json";
const BACK = ["http://127.0.0.1:1/callback"];
const NOW = 1_800_000_000_000;

const STORED: OAuthClient = {
  kind: "dynamic",
  issuer: HERE,
  clientId: "stored",
  clientSecret: "s",
  secretExpiresAt: undefined,
  authMethod: "client_secret_post",
  signingKey: undefined,
  redirectUris: ["http://127.0.0.1:2/callback"],
};

type Facts = Partial<Omit<IdentityFacts, "server" | "identity">> & {
  readonly options?: ClientIdentityOptions;
  readonly server?: Partial<IdentityFacts["server"]>;
};

function plan({ options, server, ...facts }: Facts): string {
  const identity = resolveIdentity(options);
  const rest = { boundIssuer: undefined, stored: undefined, redirectUris: BACK, wallNow: NOW, ...facts };
  const decided = planIdentity({ ...rest, identity, server: { issuer: HERE, ...server } });
  if (decided.kind === "register") return "register";
  return `${decided.client.kind} ${decided.client.clientId}${decided.binds ? ", binds" : ""}`;
}

const REGISTERS = { registration_endpoint: `${HERE}/register` };
const DOCUMENTS = { client_id_metadata_document_supported: true };
const ALL = { ...REGISTERS, ...DOCUMENTS };
const OWN = { clientId: "own", issuer: HERE };
const LOOSE = { clientId: "loose" };

describe("A-4: who the client is", () => {
  it.each<[string, Facts, string]>([
    [
      "pre-registered for this issuer, whatever else there is",
      {
        options: { preRegistered: [{ clientId: "o", issuer: THERE }, OWN], metadataDocument: DOCUMENT },
        server: ALL,
        stored: STORED,
      },
      "pre_registered own",
    ],
    [
      "pre-registered for this issuer rather than for none",
      { options: { preRegistered: [LOOSE, OWN] } },
      "pre_registered own",
    ],
    [
      "pre-registered for none, which it binds",
      { options: { preRegistered: [LOOSE] }, server: ALL, stored: STORED },
      "pre_registered loose, binds",
    ],
    [
      "pre-registered for none beside others",
      { options: { preRegistered: [{ clientId: "o", issuer: THERE }, LOOSE] } },
      "pre_registered loose, binds",
    ],
    [
      "pre-registered for none and bound here",
      { options: { preRegistered: [LOOSE] }, boundIssuer: HERE },
      "pre_registered loose",
    ],
    [
      "a document where that is supported",
      { options: { metadataDocument: DOCUMENT }, server: ALL, stored: STORED },
      `metadata_document ${DOCUMENT}`,
    ],
    [
      "a document where nobody registers",
      { options: { metadataDocument: DOCUMENT, registers: false }, server: DOCUMENTS },
      `metadata_document ${DOCUMENT}`,
    ],
    [
      "a new one where documents are not supported",
      {
        options: { metadataDocument: DOCUMENT },
        server: { ...REGISTERS, client_id_metadata_document_supported: false },
      },
      "register",
    ],
    [
      "a new one where nothing is said of documents",
      { options: { metadataDocument: DOCUMENT }, server: REGISTERS },
      "register",
    ],
    ["the one that is kept", { server: ALL, stored: STORED }, "dynamic stored"],
    [
      "the one that is kept, though nobody registers any more",
      { options: { registers: false }, stored: STORED },
      "dynamic stored",
    ],
    [
      "the one that is kept for this redirect URI",
      { server: ALL, stored: STORED, redirectUri: "http://127.0.0.1:2/callback" },
      "dynamic stored",
    ],
    [
      "a new one for another redirect URI",
      { server: ALL, stored: STORED, redirectUri: "http://127.0.0.1:3/callback" },
      "register",
    ],
    [
      "a new one where the kept one is another issuer's",
      { server: ALL, stored: { ...STORED, issuer: THERE } },
      "register",
    ],
    ["a new one where the secret is over", { server: ALL, stored: { ...STORED, secretExpiresAt: NOW } }, "register"],
    [
      "the one that is kept while its secret lasts",
      { server: ALL, stored: { ...STORED, secretExpiresAt: NOW + 1 } },
      "dynamic stored",
    ],
    ["a new one", { server: REGISTERS }, "register"],
  ])("%s", (_title, facts, decided) => {
    expect(plan(facts)).toBe(decided);
  });

  it.each<[string, Facts, object]>([
    [
      "another issuer's",
      {
        options: { preRegistered: [{ clientId: "o", issuer: THERE }], metadataDocument: DOCUMENT },
        server: ALL,
        stored: STORED,
      },
      { reason: "other_issuer", configuredFor: [THERE] },
    ],
    [
      "several others'",
      {
        options: {
          preRegistered: [
            { clientId: "o", issuer: THERE },
            { clientId: "p", issuer: `${HERE}/` },
          ],
        },
      },
      { reason: "other_issuer", configuredFor: [THERE, `${HERE}/`] },
    ],
    [
      "bound to another issuer",
      { options: { preRegistered: [LOOSE] }, boundIssuer: THERE, server: ALL },
      { reason: "other_issuer", configuredFor: [THERE] },
    ],
    [
      "bound to another issuer, beside others",
      { options: { preRegistered: [{ clientId: "o", issuer: "https://third.example" }, LOOSE] }, boundIssuer: THERE },
      { reason: "other_issuer", configuredFor: ["https://third.example", THERE] },
    ],
    ["not open", {}, { reason: "none" }],
    ["not allowed", { options: { registers: false }, server: REGISTERS }, { reason: "none" }],
    ["a document that is not supported", { options: { metadataDocument: DOCUMENT } }, { reason: "none" }],
    ["kept elsewhere", { stored: { ...STORED, issuer: THERE } }, { reason: "none" }],
    ["kept for another redirect URI", { stored: STORED, redirectUri: "app:/" }, { reason: "none" }],
    ["expired", { stored: { ...STORED, secretExpiresAt: NOW - 1 } }, { reason: "expired" }],
  ])("nobody: %s", (_title, facts, details) => {
    const error = { code: "client_identity_required", delivery: "not_sent", details: { issuer: HERE, ...details } };
    expect(() => plan(facts)).toThrow(expect.objectContaining(error));
  });

  it("makes a whole client of what was configured", () => {
    const client = { clientId: "own", clientSecret: "s", issuer: HERE, redirectUris: ["app.example:/back"] };
    const identity = resolveIdentity({ preRegistered: [client] });
    const server = { issuer: HERE, token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const facts = { server, identity, boundIssuer: undefined, stored: undefined, redirectUris: BACK, wallNow: NOW };
    expect(planIdentity(facts)).toEqual({
      kind: "use",
      binds: false,
      client: {
        ...client,
        kind: "pre_registered",
        secretExpiresAt: undefined,
        authMethod: "client_secret_post",
        signingKey: undefined,
      },
    });
  });

  it("sends browsers back to the receiver where nothing else was configured", () => {
    for (const options of [{ preRegistered: [OWN] }, { metadataDocument: DOCUMENT }]) {
      const identity = resolveIdentity(options);
      const server = { issuer: HERE, ...DOCUMENTS };
      const facts = { server, identity, boundIssuer: undefined, stored: undefined, redirectUris: BACK, wallNow: NOW };
      expect(planIdentity(facts)).toMatchObject({ client: { redirectUris: BACK, authMethod: "none" } });
    }
  });
});
