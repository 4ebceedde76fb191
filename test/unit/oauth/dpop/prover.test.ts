import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import * as jose from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { DpopProver } from "../../../../src/oauth/dpop-prover.js";
import { createDpopProver, openDpopProver } from "../../../../src/oauth/dpop/index.js";

const NOW = 1_790_000_000_900;
const ports = { wallNow: () => NOW, randomBytes };
const MCP = { method: "POST", url: "https://mcp.test/mcp" };

let prover: DpopProver;
beforeAll(async () => {
  prover = await createDpopProver({ algorithms: undefined, ...ports });
});

async function verify(proof: string): Promise<jose.JWTVerifyResult> {
  return jose.jwtVerify(proof, jose.EmbeddedJWK, { typ: "dpop+jwt", currentDate: new Date(NOW) });
}

describe("a proof", () => {
  it("A-9: says what it is for and nothing else, and is signed by the key in it", async () => {
    const { payload, protectedHeader } = await verify(await prover.proof(MCP));
    const { jti, ...claims } = payload;
    expect(claims).toEqual({ htm: "POST", htu: "https://mcp.test/mcp", iat: 1_790_000_000 });
    expect(Buffer.from(jti ?? "", "base64url")).toHaveLength(16);
    const { crv, kty, x, y } = prover.key;
    expect(protectedHeader).toEqual({ alg: "ES256", typ: "dpop+jwt", jwk: { crv, kty, x, y } });
  });

  it("A-9: names the access token by its hash, each token by its own", async () => {
    for (const accessToken of ["token-1", "token-2", "token-1"]) {
      const { payload } = await verify(await prover.proof({ ...MCP, accessToken }));
      expect(payload["ath"]).toBe(createHash("sha256").update(accessToken).digest("base64url"));
    }
  });

  it.each([
    ["https://mcp.test/mcp?tenant=1&code=secret#part", "https://mcp.test/mcp"],
    ["https://MCP.test:443", "https://mcp.test/"],
    ["http://127.0.0.1:8080/a%20b/?", "http://127.0.0.1:8080/a%20b/"],
    ["https://user:secret@mcp.test/mcp", "https://mcp.test/mcp"],
  ])("A-9: for %s names %s", async (url, htu) => {
    const { payload } = await verify(await prover.proof({ method: "GET", url }));
    expect([payload["htm"], payload["htu"]]).toEqual(["GET", htu]);
  });

  it("A-9: can't be made for what is no http URL", async () => {
    for (const url of ["/mcp", "", "file:///etc/passwd"]) {
      await expect(prover.proof({ method: "POST", url })).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  it("A-9: is never the same twice, whatever the requests are, also when all are made at once", async () => {
    const request = fc.record({
      method: fc.constantFrom("POST", "GET", "DELETE"),
      url: fc.webUrl({ validSchemes: ["https"], withQueryParameters: true, withFragments: true }),
      accessToken: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 5 }), async (requests) => {
        const proofs = await Promise.all([...requests, ...requests].map((each) => prover.proof(each)));
        const read = await Promise.all(proofs.map(verify));
        expect(new Set(read.map(({ payload }) => payload.jti)).size).toBe(proofs.length);
        for (const [index, { payload }] of read.entries()) {
          const { method, url } = requests[index % requests.length] ?? MCP;
          const { origin, pathname } = new URL(url);
          expect([payload["htm"], payload["htu"]]).toEqual([method, `${origin}${pathname}`]);
        }
      }),
      { numRuns: 10, seed: 9 },
    );
  });

  it.each(["ES256", "Ed25519", "EdDSA", "ES384", "ES512", "PS256", "RS256"])(
    "A-9: verifies with %s, where a server takes only that, and after the key was kept",
    async (algorithm) => {
      const made = await createDpopProver({ algorithms: [algorithm], ...ports });
      const kept: unknown = JSON.parse(JSON.stringify(made.key));
      const opened = await openDpopProver({ ...Object(kept) }, ports);
      const [first, second] = [await made.proof(MCP), await opened.proof(MCP)];
      const [before, after] = [await verify(first), await verify(second)];
      expect(before.protectedHeader.alg).toBe(algorithm);
      expect(after.protectedHeader).toEqual(before.protectedHeader);
      expect(JSON.stringify(after.protectedHeader)).not.toContain(String(made.key["d"]));
      expect(opened.key).toEqual(made.key);
    },
  );
});

describe("a nonce", () => {
  it("A-9: goes into the proofs for its origin, and into no other", async () => {
    const own = await createDpopProver({ algorithms: undefined, ...ports });
    const nonceFor = async (url: string) => (await verify(await own.proof({ method: "POST", url }))).payload["nonce"];
    expect(await nonceFor("https://as.test/token")).toBeUndefined();
    expect(own.learn("https://as.test/token", { "dpop-nonce": "of-as" })).toBe(true);
    expect(own.learn("https://mcp.test/mcp", { "dpop-nonce": "of-mcp" })).toBe(true);
    expect(await nonceFor("https://as.test/other?x=1")).toBe("of-as");
    expect(await nonceFor("https://mcp.test/mcp")).toBe("of-mcp");
    expect(await nonceFor("https://as.test:8443/token")).toBeUndefined();
    expect(await nonceFor("http://as.test/token")).toBeUndefined();
  });

  it("A-9: that is known already, or none, is nothing new, and none leaves the known one", async () => {
    const own = await createDpopProver({ algorithms: undefined, ...ports });
    const url = "https://as.test/token";
    expect(own.learn(url, {})).toBe(false);
    expect(own.learn(url, { "dpop-nonce": "one" })).toBe(true);
    expect(own.learn(url, { "dpop-nonce": "one" })).toBe(false);
    expect(own.learn(url, { "dpop-nonce": "not a nonce" })).toBe(false);
    expect(own.learn(url, {})).toBe(false);
    expect((await verify(await own.proof({ method: "POST", url }))).payload["nonce"]).toBe("one");
  });

  it("A-9: of several requests at once is new to each that was sent without it, and to none that was sent with it", async () => {
    const own = await createDpopProver({ algorithms: undefined, ...ports });
    const [first, second] = [await own.proof(MCP), await own.proof(MCP)];
    const answer = { "dpop-nonce": "one" };
    expect(own.learn(MCP.url, answer, first)).toBe(true);
    expect(own.learn(MCP.url, answer, second)).toBe(true);
    expect(own.learn(MCP.url, answer, await own.proof(MCP))).toBe(false);
    expect(own.learn(MCP.url, {}, first)).toBe(true);
    expect(own.learn("https://other.test", {}, first)).toBe(false);
  });
});

describe("a key", () => {
  it("A-9: is another one for each prover", async () => {
    const other = await createDpopProver({ algorithms: undefined, ...ports });
    expect(other.key["d"]).not.toBe(prover.key["d"]);
  });

  it("A-9: is not made where the server takes nothing that is known here", async () => {
    await expect(createDpopProver({ algorithms: ["HS256", "none"], ...ports })).rejects.toMatchObject({
      code: "unsupported",
      delivery: "not_sent",
    });
  });

  it("A-9: that was kept and is damaged is refused, and nothing of it is shown", async () => {
    const { d: _d, ...publicOnly } = prover.key;
    const damaged = [
      {},
      publicOnly,
      { ...prover.key, d: "c2VjcmV0" },
      { ...prover.key, d: 5 },
      { ...prover.key, x: "AA" },
      { ...prover.key, alg: "ES384" },
      { kty: "oct", k: "c2VjcmV0", d: "c2VjcmV0", alg: "HS256" },
    ];
    for (const jwk of damaged) {
      const failure: unknown = await openDpopProver(jwk, ports).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "oauth_invalid", details: { subject: "credential", member: "dpopKey" } });
      expect(failure).not.toHaveProperty("cause");
      expect(JSON.stringify(failure)).not.toContain("c2VjcmV0");
    }
  });
});
