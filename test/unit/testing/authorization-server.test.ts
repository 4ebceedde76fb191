import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { answerUri, readAuthorization } from "../../../src/testing/authorization-server/authorization-request.js";
import { authenticateClient as authenticate } from "../../../src/testing/authorization-server/client-authentication.js";
import {
  allowsRedirect,
  type AuthorizationClient,
  CLIENT_AUTHENTICATIONS,
} from "../../../src/testing/authorization-server/client.js";
import { AuthorizationFaults } from "../../../src/testing/authorization-server/fault.js";
import { GrantBook, type GrantBookOptions } from "../../../src/testing/authorization-server/grant-book.js";
import { resolveAuthorizationServerOptions } from "../../../src/testing/authorization-server/options.js";

const REDIRECT = "https://app.test/back";
const secretive: AuthorizationClient = { clientId: "a", clientSecret: "s:e c+t", redirectUris: [REDIRECT] };
const open: AuthorizationClient = { clientId: "b", redirectUris: [REDIRECT] };
const postOnly: AuthorizationClient = { ...secretive, clientId: "c", authentication: "client_secret_post" };
const clients = new Map([secretive, open, postOnly].map((client) => [client.clientId, client]));

const basic = (clientId: string, secret: string): { authorization: string } => {
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  return { authorization: `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}` };
};

const context = { clients, methods: CLIENT_AUTHENTICATIONS, issuer: "https://as.test", nowMs: 0 };

describe("authenticateClient", () => {
  it.each([
    ["Basic", basic("a", "s:e c+t"), {}, "client_secret_basic"],
    ["the form", {}, { client_id: "a", client_secret: "s:e c+t" }, "client_secret_post"],
    ["nothing, for a public client", {}, { client_id: "b" }, "none"],
    ["the one way that is accepted", {}, { client_id: "c", client_secret: "s:e c+t" }, "client_secret_post"],
  ])("takes a client that proves itself by %s", (_what, headers, form, by) => {
    expect(authenticate(headers, new URLSearchParams(form), context)).toMatchObject({ kind: "known", by });
  });

  it.each([
    ["a wrong secret", basic("a", "s"), {}],
    ["no secret", {}, { client_id: "a" }],
    ["a secret for a public client", {}, { client_id: "b", client_secret: "x" }],
    ["another way than the accepted one", basic("c", "s:e c+t"), {}],
    ["a client that nobody knows", basic("x", "s"), {}],
    ["no client", {}, {}],
    ["Basic without a colon", { authorization: `Basic ${Buffer.from("a").toString("base64")}` }, {}],
  ])("refuses %s", (_what, headers, form) => {
    expect(authenticate(headers, new URLSearchParams(form), context).kind).not.toBe("known");
  });
});

describe("allowsRedirect", () => {
  const local: AuthorizationClient = { clientId: "l", redirectUris: ["http://127.0.0.1/back", "http://[::1]/back"] };

  it.each([
    [secretive, REDIRECT, true],
    [secretive, `${REDIRECT}?x=1`, false],
    [secretive, "https://app.test:444/back", false],
    [local, "http://127.0.0.1:4711/back", true],
    [local, "http://[::1]:4711/back", true],
    [local, "http://127.0.0.1:4711/other", false],
    [local, "http://127.0.0.1:4711/other/../back", false],
    [local, "HTTP://127.0.0.1:4711/back", false],
    [local, "http://127.0.0.1:4711/%62ack", false],
    [local, "http://127.0.0.1:4711@app.test/back", false],
    [local, "http://127.0.0.2:4711/back", false],
    [local, "https://127.0.0.1/back", false],
    [local, "nonsense", false],
  ])("%o may be sent to %s: %s", (client, uri, allowed) => {
    expect(allowsRedirect(client, uri)).toBe(allowed);
  });
});

describe("readAuthorization", () => {
  const request = {
    client_id: "a",
    redirect_uri: REDIRECT,
    response_type: "code",
    code_challenge: "x",
    code_challenge_method: "S256",
    scope: "read  write",
    state: "",
  };

  it("asks for consent to what was asked for; an empty state is one", () => {
    const query = new URLSearchParams(request);
    query.append("resource", "https://one.test/");
    query.append("resource", "https://two.test/");
    expect(readAuthorization(query, clients)).toMatchObject({
      kind: "ask",
      visit: {
        clientId: "a",
        state: "",
        scopes: ["read", "write"],
        resources: ["https://one.test/", "https://two.test/"],
      },
    });
  });

  it.each([
    [{ client_id: "x" }, "page"],
    [{ redirect_uri: "https://evil.test/" }, "page"],
    [{ redirect_uri: undefined }, "page"],
    [{ response_type: "token" }, "error"],
    [{ code_challenge: undefined }, "error"],
    [{ code_challenge_method: "plain" }, "error"],
  ])("%j is answered by %s", (changes, kind) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...request, ...changes })) {
      if (value !== undefined) query.set(name, value);
    }
    expect(readAuthorization(query, clients).kind).toBe(kind);
  });

  it("an answer keeps the query of its address", () => {
    expect(answerUri("https://app.test/back?x=1", { code: "a b", state: undefined, iss: "" })).toBe(
      "https://app.test/back?x=1&code=a+b&iss=",
    );
  });
});

/** The challenge of RFC 7636, Appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

function bookOf(changes: Partial<GrantBookOptions> = {}): GrantBook {
  let next = 0;
  return new GrantBook({
    random: (size) => Buffer.alloc(size, (next += 1)),
    codeLifetimeMs: 100,
    accessTokenLifetimeMs: 1_000,
    issuesRefreshTokens: true,
    rotatesRefreshTokens: true,
    ...changes,
  });
}

const consented = {
  clientId: "a",
  subject: "user",
  scopes: ["read", "write"],
  resources: [],
  redirectUri: REDIRECT,
  codeChallenge: CHALLENGE,
};
const proof = { clientId: "a", redirectUri: REDIRECT, codeVerifier: VERIFIER };

/** The tokens of a fresh consent. */
function consent(book: GrantBook, nowMs = 0): { access: string; refresh: string } {
  const pair = book.redeem(book.issueCode(consented, nowMs), proof, nowMs);
  if (typeof pair === "string") throw new Error(pair);
  return { access: pair.access.token, refresh: pair.refresh?.token ?? "" };
}

describe("GrantBook", () => {
  it.each([
    ["another verifier", { codeVerifier: "x" }, 0],
    ["no verifier", { codeVerifier: null }, 0],
    ["another address", { redirectUri: "https://evil.test/" }, 0],
    ["another client", { clientId: "b" }, 0],
    ["too late", {}, 100],
  ])("gives no tokens for a code with %s", (_what, changes, nowMs) => {
    const book = bookOf();
    const code = book.issueCode(consented, 0);
    expect(book.redeem(code, { ...proof, ...changes }, nowMs)).toBeTypeOf("string");
    expect(book.tokens).toEqual([]);
  });

  it("a code that comes twice takes back what it gave", () => {
    const book = bookOf();
    const code = book.issueCode(consented, 0);
    const pair = book.redeem(code, proof, 0);
    expect(pair).toMatchObject({ access: { scopes: ["read", "write"] } });
    expect(book.redeem(code, proof, 0)).toBeTypeOf("string");
    expect(book.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
  });

  it("a refresh may shrink the scope, not widen it", () => {
    const book = bookOf({ rotatesRefreshTokens: false });
    const { refresh } = consent(book);
    expect(book.refresh(refresh, { clientId: "a" }, ["read"], 0)).toMatchObject({
      access: { scopes: ["read"] },
      refresh: undefined,
    });
    expect(book.refresh(refresh, { clientId: "a" }, ["read", "admin"], 0)).toBeTypeOf("string");
    expect(book.refresh(refresh, { clientId: "b" }, undefined, 0)).toBeTypeOf("string");
    expect(book.refresh(refresh, { clientId: "a" }, undefined, 0)).toMatchObject({
      access: { scopes: ["read", "write"] },
    });
  });

  it("a refresh for less leaves the new refresh token what was consented to", () => {
    const book = bookOf();
    const less = book.refresh(consent(book).refresh, { clientId: "a" }, ["read"], 0);
    if (typeof less === "string") throw new Error(less);
    expect([less.access.scopes, less.refresh?.scopes]).toEqual([["read"], ["read", "write"]]);
    const again = book.refresh(less.refresh?.token ?? "", { clientId: "a" }, undefined, 0);
    expect(again).toMatchObject({ access: { scopes: ["read", "write"] } });
  });

  it("an access token lasts as long as was said", () => {
    const book = bookOf();
    const { access, refresh } = consent(book);
    expect([
      book.findValid(access, 999) !== undefined,
      book.findValid(access, 1_000) !== undefined,
      book.findValid(refresh, 0) !== undefined,
    ]).toEqual([true, false, false]);
    const lasting = bookOf({ accessTokenLifetimeMs: Infinity });
    expect(lasting.findValid(consent(lasting).access, 1e15)?.kind).toBe("access");
  });

  it("whatever is done in whatever order: one refresh token of a consent works, and none once an old one came again", () => {
    const step = fc.constantFrom("newest", "oldest", "revoke");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const book = bookOf();
        const other = consent(book);
        const chain = [consent(book).refresh];
        let isOver = false;
        for (const each of steps) {
          if (each === "revoke") {
            book.revoke(chain.at(-1) ?? "");
            isOver = true;
          } else {
            const token = (each === "newest" ? chain.at(-1) : chain[0]) ?? "";
            const isReplay = each === "oldest" && chain.length > 1;
            const pair = book.refresh(token, { clientId: "a" }, undefined, 0);
            expect(typeof pair === "string").toBe(isOver || isReplay);
            if (isReplay) isOver = true;
            if (typeof pair !== "string") chain.push(pair.refresh?.token ?? "");
          }
          const [, ...own] = book.tokens.filter(({ kind, token }) => kind === "refresh" && token !== "");
          expect(own.filter(({ state }) => state === "active")).toHaveLength(isOver ? 0 : 1);
          expect(book.findValid(other.access, 0) !== undefined).toBe(true);
        }
      }),
      { seed: 24, numRuns: 300 },
    );
  });
});

describe("AuthorizationFaults", () => {
  it("are met by their endpoint, oldest first, as often as was said", () => {
    const faults = new AuthorizationFaults();
    faults.add({ endpoint: "token", kind: "drop_connection", times: 2 });
    faults.add({ endpoint: "token", kind: "malformed" });
    const kinds = [1, 2, 3, 4].map(() => faults.take("token")?.kind);
    expect([faults.take("authorize"), ...kinds]).toEqual([
      undefined,
      "drop_connection",
      "drop_connection",
      "malformed",
      undefined,
    ]);
    faults.add({ endpoint: "token", kind: "malformed" });
    faults.clear();
    expect(faults.take("token")).toBeUndefined();
  });
});

describe("resolveAuthorizationServerOptions", () => {
  it.each<[object]>([[{ client: [] }], [{ issuerPath: "tenant" }], [{ issuerPath: "/a/" }], [{ codeLifetimeMs: 0 }]])(
    "refuses %j",
    (options) => {
      let code: unknown;
      try {
        resolveAuthorizationServerOptions(options);
      } catch (error) {
        code = isRemoteConnectorError(error) ? error.code : error;
      }
      expect(code).toBe("invalid_options");
    },
  );
});
