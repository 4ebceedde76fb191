import { describe, expect, it } from "vitest";
import { algorithmOf, chooseDpopAlgorithm, publicHalf } from "../../../../src/oauth/dpop/algorithm.js";

describe("the algorithm of proofs", () => {
  it.each([
    [undefined, "ES256"],
    [["ES256"], "ES256"],
    [["RS256", "PS256", "ES256"], "ES256"],
    [["RS256", "EdDSA"], "EdDSA"],
    [["Ed25519", "EdDSA"], "Ed25519"],
    [["RS256", "ES384"], "ES384"],
    [["RS256"], "RS256"],
    [["none", "HS256"], undefined],
    [[], undefined],
  ])("A-9: of %j is %s", (algorithms, expected) => {
    expect(chooseDpopAlgorithm(algorithms)).toBe(expected);
  });

  it.each([
    [{ kty: "EC", crv: "P-256" }, "ES256"],
    [{ kty: "EC", crv: "P-521" }, "ES512"],
    [{ kty: "OKP", crv: "Ed25519" }, "Ed25519"],
    [{ kty: "OKP", crv: "Ed25519", alg: "EdDSA" }, "EdDSA"],
    [{ kty: "RSA", alg: "PS256" }, "PS256"],
    [{ kty: "RSA" }, undefined],
    [{ kty: "oct", alg: "HS256" }, undefined],
    [{ kty: "oct", alg: "ES256" }, undefined],
    [{ kty: "EC", crv: "P-256", alg: "none" }, undefined],
    [{ crv: "P-256" }, undefined],
  ])("A-9: a kept key %j signs with %s", (jwk, expected) => {
    expect(algorithmOf(jwk)).toBe(expected);
  });

  it("A-9: the public half has no member that is not known to be public", () => {
    const secret = { d: "d", p: "p", q: "q", dp: "dp", dq: "dq", qi: "qi", k: "k", other: "o", alg: "ES256" };
    expect(publicHalf({ kty: "EC", crv: "P-256", x: "x", y: "y", ...secret })).toEqual({
      kty: "EC",
      crv: "P-256",
      x: "x",
      y: "y",
    });
    expect(publicHalf({ kty: "OKP", crv: "Ed25519", x: "x", ...secret })).toEqual({
      kty: "OKP",
      crv: "Ed25519",
      x: "x",
    });
    expect(publicHalf({ kty: "RSA", n: "n", e: "AQAB", ...secret })).toEqual({ kty: "RSA", n: "n", e: "AQAB" });
    expect(publicHalf({ kty: "oct", ...secret })).toEqual({ kty: "oct" });
  });
});
