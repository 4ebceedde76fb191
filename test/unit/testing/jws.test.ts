import { describe, expect, it } from "vitest";
import { DpopJudge, type ProvenRequest } from "../../../src/testing/dpop-judge.js";
import { isSignedBy, readJws, thumbprintOf } from "../../../src/testing/jws.js";
import { type ProofOptions, TestKey } from "../../support/test-key.js";

const key = new TestKey();
const other = new TestKey();

describe("signed tokens", () => {
  it("are of the key that signed them, as a JWK and in PEM", () => {
    const jws = readJws(key.sign({ a: 1 }));
    if (jws === undefined) throw new Error("it can't be read");
    expect(jws.claims).toEqual({ a: 1 });
    expect([isSignedBy(jws, key.jwk), isSignedBy(jws, key.pem)]).toEqual([true, true]);
    expect([isSignedBy(jws, other.jwk), isSignedBy(jws, {}), isSignedBy(jws, "pem")]).toEqual([false, false, false]);
    expect(isSignedBy({ ...jws, signed: `${jws.signed}x` }, key.jwk)).toBe(false);
  });

  it.each(["none", "HS256", "RS256", "EdDSA", undefined])("are of nobody with algorithm %s for such a key", (alg) => {
    const jws = readJws(key.sign({}, { alg }));
    expect(jws !== undefined && isSignedBy(jws, key.jwk)).toBe(false);
  });

  it.each(["", "a.b", "a.b.c", "e30.W10.c", "e30.e30.", "e30.e30.c.d"])("can't be read from %j", (text) => {
    expect(readJws(text)).toBeUndefined();
  });

  it("a thumbprint is that of the RFC, whatever else the key says; a private key has none", () => {
    // RFC 7638, Example JWK Thumbprint Computation.
    const n =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs" +
      "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n9" +
      "1CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    const jwk = { kty: "RSA", n, e: "AQAB", alg: "RS256", kid: "2011-04-29" };
    expect(thumbprintOf(jwk)).toBe("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    expect([thumbprintOf({ ...key.jwk, d: "AQAB" }), thumbprintOf({}), thumbprintOf("x")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

const URL_OF = "https://a.test/token";
const NOW = 1_700_000_000_000;

function judgeProof(options: ProofOptions = {}, request: Partial<ProvenRequest> = {}): string {
  const proof = key.proof("POST", URL_OF, { nowMs: NOW, ...options });
  return new DpopJudge(() => "n").judge(proof, { method: "POST", url: URL_OF, nowMs: NOW, ...request }, false).kind;
}

describe("DpopJudge", () => {
  it("takes a proof of the request", () => {
    expect(judgeProof()).toBe("valid");
    expect(judgeProof({ accessToken: "t" }, { accessToken: "t" })).toBe("valid");
    expect(judgeProof({}, { nowMs: NOW + 300_000 })).toBe("valid");
  });

  it.each<[string, ProofOptions, Partial<ProvenRequest>]>([
    ["another type", { header: { typ: "JWT" } }, {}],
    ["no key", { header: { jwk: undefined } }, {}],
    ["another key", { header: { jwk: other.jwk } }, {}],
    ["no algorithm", { header: { alg: "none" } }, {}],
    ["another method", {}, { method: "GET" }],
    ["another URL", {}, { url: "https://a.test/other" }],
    ["a URL that is none", { claims: { htu: "token" } }, {}],
    ["no id", { claims: { jti: undefined } }, {}],
    ["an empty id", { claims: { jti: "" } }, {}],
    ["a time long ago", {}, { nowMs: NOW + 301_000 }],
    ["a time to come", {}, { nowMs: NOW - 301_000 }],
    ["no time", { claims: { iat: undefined } }, {}],
    ["no token", {}, { accessToken: "t" }],
    ["another token", { accessToken: "u" }, { accessToken: "t" }],
    ["a token where there is none", { accessToken: "u" }, {}],
  ])("takes none with %s", (_what, options, request) => {
    expect(judgeProof(options, request)).toBe("invalid");
  });

  it("takes each once, and with the nonce that was given last", () => {
    let count = 0;
    const judge = new DpopJudge(() => `n${String((count += 1))}`);
    const request = { method: "POST", url: URL_OF, nowMs: NOW };
    const proof = (nonce?: string): string => key.proof("POST", URL_OF, { nowMs: NOW, claims: { nonce } });
    const once = proof();
    expect([judge.judge(once, request, false).kind, judge.judge(once, request, false).kind]).toEqual([
      "valid",
      "invalid",
    ]);
    expect(judge.judge(proof(), request, true)).toEqual({ kind: "use_nonce", nonce: "n1" });
    expect(judge.judge(proof("n1"), request, true)).toEqual({ kind: "valid", thumbprint: thumbprintOf(key.jwk) });
    judge.renewNonce();
    expect(judge.judge(proof("n1"), request, true)).toEqual({ kind: "use_nonce", nonce: "n2" });
  });
});
