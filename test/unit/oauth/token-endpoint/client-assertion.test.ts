import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import type { OAuthClient, SigningKey } from "../../../../src/oauth/oauth-client.js";
import { readSigningKey } from "../../../../src/oauth/signing-key.js";
import { assertionClaims, signAssertion } from "../../../../src/oauth/token-endpoint/client-assertion.js";

const ISSUER = "https://as.example/tenant";
const NOW = 1_800_000_000_999;
const PORTS = { wallNow: () => NOW, randomBytes: (size: number) => new Uint8Array(size).fill(7) };

const EC = generateKeyPairSync("ec", { namedCurve: "P-256" });
const EC384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const EC521 = generateKeyPairSync("ec", { namedCurve: "P-521" });
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 });
const EDWARDS = generateKeyPairSync("ed25519");

function pem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function jwk(key: KeyObject): Readonly<Record<string, unknown>> {
  return { ...key.export({ format: "jwk" }) };
}

function client(signingKey: SigningKey | undefined): OAuthClient {
  return {
    kind: "pre_registered",
    issuer: ISSUER,
    clientId: "client",
    clientSecret: undefined,
    secretExpiresAt: undefined,
    authMethod: "private_key_jwt",
    signingKey,
    redirectUris: [],
  };
}

describe("A-6: private_key_jwt", () => {
  it("says who the client is to one server, for a minute", () => {
    expect(assertionClaims("client", ISSUER, PORTS)).toEqual({
      iss: "client",
      sub: "client",
      aud: ISSUER,
      iat: 1_800_000_000,
      exp: 1_800_000_060,
      jti: "BwcHBwcHBwcHBwcHBwcHBw",
    });
  });

  it.each<[string, SigningKey, KeyObject, readonly string[] | undefined, string]>([
    ["ES256 in PEM", { key: pem(EC.privateKey) }, EC.publicKey, undefined, "ES256"],
    ["ES256 as a JWK", { key: jwk(EC.privateKey) }, EC.publicKey, ["RS256"], "ES256"],
    ["ES384", { key: pem(EC384.privateKey) }, EC384.publicKey, undefined, "ES384"],
    ["ES512", { key: jwk(EC521.privateKey) }, EC521.publicKey, undefined, "ES512"],
    ["RS256 where nothing is listed", { key: pem(RSA.privateKey) }, RSA.publicKey, undefined, "RS256"],
    ["PS256 where that is listed", { key: pem(RSA.privateKey) }, RSA.publicKey, ["ES256", "PS256"], "PS256"],
    ["PS384 where it is told", { key: pem(RSA.privateKey), algorithm: "PS384" }, RSA.publicKey, ["RS256"], "PS384"],
    ["what the JWK says", { key: { ...jwk(RSA.privateKey), alg: "RS512" } }, RSA.publicKey, undefined, "RS512"],
    ["EdDSA", { key: pem(EDWARDS.privateKey) }, EDWARDS.publicKey, undefined, "EdDSA"],
    ["Ed25519 where that is listed", { key: jwk(EDWARDS.privateKey) }, EDWARDS.publicKey, ["Ed25519"], "Ed25519"],
  ])("signs with %s", async (_title, key, publicKey, listed, alg) => {
    const server = { issuer: ISSUER, token_endpoint_auth_signing_alg_values_supported: listed };
    const assertion = await signAssertion(client(key), server, PORTS);
    const { payload, protectedHeader } = await jwtVerify(assertion, publicKey, { currentDate: new Date(NOW) });
    expect(protectedHeader).toEqual({ alg });
    expect(payload).toEqual(assertionClaims("client", ISSUER, PORTS));
  });

  it.each<[string, SigningKey, string]>([
    ["as it is told", { key: { ...jwk(EC.privateKey), kid: "inner" }, keyId: "outer" }, "outer"],
    ["as the JWK says", { key: { ...jwk(EC.privateKey), kid: "inner" } }, "inner"],
  ])("names the key %s", async (_title, key, kid) => {
    const assertion = await signAssertion(client(key), { issuer: ISSUER }, PORTS);
    const { protectedHeader } = await jwtVerify(assertion, EC.publicKey, { currentDate: new Date(NOW) });
    expect(protectedHeader).toEqual({ alg: "ES256", kid });
  });

  it.each<[string, SigningKey | undefined]>([
    ["none", undefined],
    ["no key", { key: "sentinel" }],
    ["half a key", { key: pem(EC.privateKey).slice(0, 90) }],
    ["a public key", { key: jwk(EC.publicKey) }],
    ["a shared secret", { key: { kty: "oct", k: "c2VudGluZWw" } }],
    ["a key of another use", { key: pem(generateKeyPairSync("x25519").privateKey) }],
    [
      "a key of a curve that no algorithm has",
      { key: pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey) },
    ],
    ["a short key", { key: pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey) }],
    [
      "a key whose type is RSASSA-PSS",
      { key: pem(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey), algorithm: "PS256" },
    ],
    ["an algorithm that does not fit", { key: pem(EC.privateKey), algorithm: "RS256" }],
    ["an algorithm that nobody knows", { key: pem(EC.privateKey), algorithm: "none" }],
  ])("F-6: refuses %s, and shows nothing of it", async (_title, key) => {
    const failure: unknown = await signAssertion(client(key), { issuer: ISSUER }, PORTS).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: "invalid_options", details: { option: "signingKey" } });
    expect(Object(failure)).not.toHaveProperty("cause");
  });

  it("can be read before it is used", () => {
    expect(readSigningKey({ key: pem(RSA.privateKey) })).toMatchObject({
      algorithms: ["RS256", "PS256", "RS384", "PS384", "RS512", "PS512"],
    });
    expect(readSigningKey({ key: "sentinel" })).toBe("is no private key in PEM or as a JWK");
  });
});
