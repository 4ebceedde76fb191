import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnyRemoteConnectorError, isRemoteConnectorError } from "../../../../src/errors.js";
import { type PendingAuthorization, readCallback } from "../../../../src/oauth/code-flow/index.js";

const ISSUER = "https://as.example.com/tenant";
const REDIRECT_URI = "http://127.0.0.1:4321/callback";
const pending: PendingAuthorization = {
  url: "https://as.example.com/authorize?state=s-1",
  state: "s-1",
  codeVerifier: "verifier-of-the-test",
  issuer: ISSUER,
  redirectUri: REDIRECT_URI,
  scopes: ["a"],
  expectsIssuer: false,
};

type Parameters = readonly (readonly [name: string, value: string])[];

function read(parameters: Parameters, changes: Partial<PendingAuthorization> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) query.append(name, value);
  return readCallback(new URL(`${REDIRECT_URI}?${query.toString()}`), { ...pending, ...changes }).code;
}

function failureOf(parameters: Parameters, changes?: Partial<PendingAuthorization>): AnyRemoteConnectorError {
  try {
    read(parameters, changes);
  } catch (error) {
    if (isRemoteConnectorError(error)) return error;
    throw error;
  }
  throw new Error("It was accepted.");
}

function memberOf(parameters: Parameters, changes?: Partial<PendingAuthorization>): string {
  const error = failureOf(parameters, changes);
  if (error.code !== "oauth_invalid") throw error;
  expect(error.details.subject).toBe("callback");
  expect(error.details.url).toBe(REDIRECT_URI);
  expect(error.delivery).toBe("answered");
  return error.details.member;
}

const CODE = ["code", "c-1"] as const;
const STATE = ["state", "s-1"] as const;
const DENIED = ["error", "access_denied"] as const;

describe("A-5: the answer that a browser brings", () => {
  it("is its code", () => {
    expect(read([CODE, STATE])).toBe("c-1");
    expect(read([["code", "a+b/c=%20 é"], STATE])).toBe("a+b/c=%20 é");
    expect(read([["code", "0"], STATE])).toBe("0");
  });

  it("may hold parameters that nobody knows, also twice, and a query of the redirect URI", () => {
    expect(read([["x", "1"], ["x", "2"], ["session_state", "y"], CODE, STATE])).toBe("c-1");
  });

  it.each<[string, Parameters]>([
    ["missing", [CODE]],
    ["empty", [CODE, ["state", ""]]],
    ["another one", [CODE, ["state", "s-2"]]],
    ["a part of it", [CODE, ["state", "s-"]]],
    ["longer", [CODE, ["state", "s-11"]]],
    ["of another case", [CODE, ["state", "S-1"]]],
    ["there twice", [CODE, STATE, STATE]],
    ["there twice, once wrong", [CODE, STATE, ["state", "x"]]],
    ["under another name", [CODE, ["State", "s-1"]]],
  ])("is refused when its state is %s", (_name, parameters) => {
    expect(memberOf(parameters)).toBe("state");
    // Before anything else: neither a refusal nor an issuer is looked at.
    expect(memberOf([...parameters, DENIED, ["iss", "https://evil.example"]])).toBe("state");
    expect(memberOf(parameters, { expectsIssuer: true })).toBe("state");
  });

  describe("by the table of issuers", () => {
    const answers = [
      ["a code", CODE],
      ["an error", DENIED],
    ] as const;

    it.each(answers)("announced and absent: %s is refused", (_name, answer) => {
      expect(memberOf([answer, STATE], { expectsIssuer: true })).toBe("iss");
    });

    it.each([true, false])("announced (%s) and the same: goes on", (expectsIssuer) => {
      expect(read([CODE, STATE, ["iss", ISSUER]], { expectsIssuer })).toBe("c-1");
      expect(failureOf([DENIED, STATE, ["iss", ISSUER]], { expectsIssuer }).code).toBe("oauth_refused");
    });

    it("not announced and absent: goes on", () => {
      expect(read([CODE, STATE])).toBe("c-1");
      expect(failureOf([DENIED, STATE]).code).toBe("oauth_refused");
    });

    it.each([
      `${ISSUER}/`,
      "https://AS.example.com/tenant",
      "HTTPS://as.example.com/tenant",
      "https://as.example.com:443/tenant",
      "https://as.example.com/%74enant",
      "https://as.example.com/x/../tenant",
      "https://as.example.com",
      "https://evil.example",
      ` ${ISSUER}`,
      "",
    ])("present and not the very same text: %j is refused, announced or not", (issuer) => {
      for (const [, answer] of answers) {
        for (const expectsIssuer of [true, false]) {
          expect(memberOf([answer, STATE, ["iss", issuer]], { expectsIssuer })).toBe("iss");
        }
      }
    });

    it("is taken as it is after the query is decoded, once", () => {
      const url = new URL(`${REDIRECT_URI}?code=c&state=s-1&iss=https%3A%2F%2Fas.example.com%2Ften+ant`);
      expect(readCallback(url, { ...pending, issuer: "https://as.example.com/ten ant" }).code).toBe("c");
      expect(() => readCallback(url, { ...pending, issuer: "https://as.example.com/ten+ant" })).toThrow();
      expect(memberOf([CODE, STATE, ["iss", encodeURIComponent(ISSUER)]])).toBe("iss");
    });

    it("refuses two issuers, of which one is right", () => {
      const twice: Parameters = [CODE, STATE, ["iss", ISSUER], ["iss", "https://evil.example"]];
      expect(memberOf(twice)).toBe("iss");
      expect(memberOf(twice.toReversed())).toBe("iss");
    });

    it("shows nothing of an answer of another issuer", () => {
      const text: Parameters = [
        ["error_description", "call-this-number"],
        ["error_uri", "https://phishing.example"],
      ];
      const error = failureOf([DENIED, ["code", "c-secret"], STATE, ["iss", "https://evil.example"], ...text]);
      const shown = `${error.message} ${JSON.stringify(error)}`;
      for (const part of ["access_denied", "call-this", "phishing", "evil.example", "c-secret", "s-1", "verifier"]) {
        expect(shown).not.toContain(part);
      }
    });
  });

  it.each([
    "access_denied",
    "invalid_scope",
    "invalid_client",
    "invalid_target",
    "login_required",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
  ])("can be a refusal: %s", (word) => {
    const error = failureOf([["error", word], STATE, ["error_description", "secret words"]]);
    expect([error.code, error.details, error.delivery]).toEqual([
      "oauth_refused",
      { step: "authorization", issuer: ISSUER, errorCode: word },
      "answered",
    ]);
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("secret words");
  });

  it.each(["Access_Denied", "call 555-0100", "access_denied ", "toString"])("doesn't repeat %j", (word) => {
    const error = failureOf([["error", word], STATE]);
    expect([error.code, error.details]).toEqual(["oauth_refused", { step: "authorization", issuer: ISSUER }]);
    expect(error.message).not.toContain(word);
  });

  it("is a refusal although it has a code", () => {
    expect(failureOf([DENIED, CODE, STATE]).code).toBe("oauth_refused");
  });

  it("counts an error without a value as left out", () => {
    expect(read([["error", ""], CODE, STATE])).toBe("c-1");
  });

  it.each<[string, string, Parameters]>([
    ["code", "no code", [STATE]],
    ["code", "an empty code", [STATE, ["code", ""]]],
    ["code", "two codes", [STATE, CODE, CODE]],
    ["code", "two codes of which one is empty", [STATE, CODE, ["code", ""]]],
    ["error", "two errors", [STATE, DENIED, DENIED]],
    ["error", "two errors beside a code", [STATE, CODE, ["error", ""], DENIED]],
  ])("is refused by its %s for %s", (member, _name, parameters) => {
    expect(memberOf(parameters)).toBe(member);
  });

  it("shows no query of the redirect URI", () => {
    const error = failureOf([CODE], { redirectUri: `${REDIRECT_URI}?key=k-1` });
    expect(error.details).toMatchObject({ url: REDIRECT_URI });
  });

  it("is never taken with another state or issuer, whatever comes with it", () => {
    const name = fc.constantFrom("state", "iss", "code", "error", "error_description", "x");
    const value = fc.oneof(fc.constantFrom("s-1", ISSUER, `${ISSUER}/`, "c-1", "", "access_denied"), fc.string());
    const parameters = fc.array(fc.tuple(name, value), { maxLength: 7 });
    fc.assert(
      fc.property(parameters, fc.boolean(), (list, expectsIssuer) => {
        const query = new URLSearchParams(list);
        let code: string;
        try {
          code = read(list, { expectsIssuer });
        } catch (error) {
          expect(["oauth_invalid", "oauth_refused"]).toContain(isRemoteConnectorError(error) ? error.code : error);
          // What is refused is refused for a reason.
          const right = query.get("state") === "s-1" && (query.get("iss") ?? (expectsIssuer ? "" : ISSUER)) === ISSUER;
          const single = ["state", "iss", "code", "error"].every((key) => query.getAll(key).length < 2);
          const plain = (query.get("code") ?? "") !== "" && (query.get("error") ?? "") === "";
          expect(right && single && plain).toBe(false);
          return;
        }
        expect(query.getAll("state")).toEqual(["s-1"]);
        expect([[], [ISSUER]]).toContainEqual(query.getAll("iss"));
        if (expectsIssuer) expect(query.getAll("iss")).toEqual([ISSUER]);
        expect(query.getAll("code")).toEqual([code]);
        expect(code).not.toBe("");
        expect(query.get("error") ?? "").toBe("");
      }),
      { numRuns: 500 },
    );
  });
});
