import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import type { OAuthAnswer } from "../../../../src/oauth/requester.js";
import { type AnswerContext, readTokenAnswer } from "../../../../src/oauth/token-endpoint/token-answer.js";

const NOW = 1_800_000_000_000;
const CONTEXT: AnswerContext = { step: "token", issuer: "https://as.example", wanted: "bearer_or_dpop", askedAt: NOW };

function answer(body: unknown, status = 200): OAuthAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    url: "https://as.example/token?tenant=sentinel",
    status,
    mediaType: "",
    headers: {},
    body: Buffer.from(text),
  };
}

function read(members: object, context: Partial<AnswerContext> = {}): ReturnType<typeof readTokenAnswer> {
  return readTokenAnswer(answer({ access_token: "at", token_type: "Bearer", ...members }), { ...CONTEXT, ...context });
}

function failureOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("A-6: the answer of a token endpoint", () => {
  it("is read as a whole", () => {
    const members = {
      expires_in: 3600,
      refresh_token: "rt",
      scope: "a b",
      issued_token_type: "urn:t",
      id_token: "junk",
    };
    expect(read(members)).toEqual({
      accessToken: "at",
      tokenType: "Bearer",
      expiresAt: NOW + 3_600_000,
      refreshToken: "rt",
      scopes: ["a", "b"],
      issuedTokenType: "urn:t",
    });
  });

  it.each<[unknown, number | undefined]>([
    [3600, 3_600_000],
    ["4200", 4_200_000],
    [" 60 ", 60_000],
    ["59.5", 59_500],
    [0.0005, 0],
    [0, 0],
    ["0", 0],
    [-1, 0],
    ["-5", 0],
    ["90s", undefined],
    ["", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["Infinity", undefined],
    ["never", undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [[3600], undefined],
    [{}, undefined],
    [1e300, undefined],
    ["9".repeat(400), undefined],
  ])("lasts, with %j", (expiresIn, lifetimeMs) => {
    const { expiresAt } = read({ expires_in: expiresIn });
    expect(expiresAt).toBe(lifetimeMs === undefined ? undefined : NOW + lifetimeMs);
  });

  it("has no time where a number is beyond all numbers", () => {
    expect(readTokenAnswer(answer('{"access_token":"at","expires_in":1e400}'), CONTEXT).expiresAt).toBeUndefined();
  });

  it.each<[unknown, readonly string[] | undefined]>([
    [undefined, undefined],
    [null, undefined],
    ["", undefined],
    ["  ", undefined],
    ["a", ["a"]],
    ["a  b\ta ", ["a", "b"]],
    [
      ["a", "b c", 1],
      ["a", "b", "c"],
    ],
    [7, undefined],
    ['a "b" \u001b[2J c\\d e\u0000 é', ["a"]],
    ['"a"', undefined],
  ])("has the scopes of %j", (scope, scopes) => {
    expect(read({ scope }).scopes).toEqual(scopes);
  });

  it.each<[unknown, string | undefined]>([
    ["rt", "rt"],
    ["", undefined],
    [null, undefined],
    [false, undefined],
    [1, undefined],
  ])("has the refresh token of %j", (token, refreshToken) => {
    expect(read({ refresh_token: token }).refreshToken).toBe(refreshToken);
  });

  it.each<[unknown, AnswerContext["wanted"], "Bearer" | "DPoP"]>([
    ["Bearer", "bearer", "Bearer"],
    ["BEARER", "bearer", "Bearer"],
    ["bearer", "bearer_or_dpop", "Bearer"],
    ["DPoP", "bearer_or_dpop", "DPoP"],
    ["dpop", "bearer_or_dpop", "DPoP"],
    [undefined, "bearer", "Bearer"],
    [null, "bearer_or_dpop", "Bearer"],
    ["N_A", "any", "Bearer"],
    [7, "any", "Bearer"],
  ])("is of the type %j, where %s is wanted", (type, wanted, tokenType) => {
    expect(read({ token_type: type }, { wanted }).tokenType).toBe(tokenType);
  });

  it.each<[string, object, AnswerContext["wanted"], string]>([
    ["no token", { access_token: undefined }, "bearer", "access_token"],
    ["null for a token", { access_token: null }, "any", "access_token"],
    ["an empty token", { access_token: "" }, "bearer", "access_token"],
    ["a number for a token", { access_token: 12 }, "bearer", "access_token"],
    ["a token with a line end", { access_token: "sentinel\r\nX: y" }, "bearer", "access_token"],
    ["a token with a space", { access_token: "sentinel sentinel" }, "bearer", "access_token"],
    ["a token with a letter beyond ASCII", { access_token: "sentinelé" }, "bearer", "access_token"],
    ["the type mac", { token_type: "mac" }, "bearer_or_dpop", "token_type"],
    ["the type N_A", { token_type: "N_A" }, "bearer_or_dpop", "token_type"],
    ["an empty type", { token_type: "" }, "bearer", "token_type"],
    ["a number for a type", { token_type: 0 }, "bearer", "token_type"],
    ["a token for a key that was not shown", { token_type: "DPoP" }, "bearer", "token_type"],
  ])("can't be used with %s", (_title, members, wanted, member) => {
    const failure = failureOf(() => read(members, { wanted }));
    expect(failure).toMatchObject({
      code: "oauth_invalid",
      delivery: "answered",
      details: { subject: "token", member, url: "https://as.example/token?tenant=…" },
    });
    expect(JSON.stringify(failure)).not.toContain("sentinel");
  });

  it.each(["a|b", "a:b", "aaa.bbb-_~+/==", "!\"#$%&'()*,;<>?@[]^`{}"])("may be the token %s", (token) => {
    expect(read({ access_token: token }).accessToken).toBe(token);
  });

  it.each<[string, unknown, number, string | undefined, string]>([
    ["OAuth's error", { error: "invalid_grant" }, 400, "invalid_grant", "answered"],
    [
      "an error with 401",
      { error: "invalid_client", error_description: "sentinel" },
      401,
      "invalid_client",
      "answered",
    ],
    ["an error with 200", { error: "invalid_grant", access_token: "at" }, 200, "invalid_grant", "answered"],
    ["an error of its own words with 200", { error: "sentinel_verification_code" }, 200, undefined, "answered"],
    ["an error of its own words", { error: "sentinel" }, 400, undefined, "answered"],
    ["an error that is no text", { error: { code: "sentinel" } }, 400, undefined, "answered"],
    ["no reason", {}, 403, undefined, "answered"],
    ["a token with a failure", { access_token: "sentinel" }, 400, undefined, "answered"],
    ["a failure of its own", { error: "invalid_grant" }, 503, undefined, "unknown"],
    ["a page", "<p>sentinel</p>", 200, undefined, "unknown"],
    ["a page with a failure", "<p>sentinel</p>", 502, undefined, "unknown"],
    ["a page with a refusal", "<p>sentinel</p>", 404, undefined, "answered"],
    ["nothing", "", 204, undefined, "unknown"],
    ["a list", "[]", 200, undefined, "unknown"],
    ["null", "null", 200, undefined, "unknown"],
    ["half an answer", '{"access_token":"sentinel', 200, undefined, "unknown"],
  ])("refuses: %s", (_title, body, status, errorCode, delivery) => {
    const failure = failureOf(() => readTokenAnswer(answer(body, status), { ...CONTEXT, step: "refresh" }));
    expect(failure).toMatchObject({ code: "oauth_refused", delivery });
    expect(isRemoteConnectorError(failure) && failure.details).toEqual({
      step: "refresh",
      issuer: "https://as.example",
      status,
      ...(errorCode === undefined ? {} : { errorCode }),
    });
    expect(JSON.stringify(failure)).not.toContain("sentinel");
  });

  it.each([null, "", false])("is no error with %j for one", (error) => {
    expect(read({ error }).accessToken).toBe("at");
  });

  it("takes 201, and a byte order mark", () => {
    expect(readTokenAnswer(answer('\ufeff{"access_token":"at"}', 201), CONTEXT).accessToken).toBe("at");
  });

  it("F-6: fails only in two ways, whatever comes, and never repeats it", () => {
    const members = fc.dictionary(
      fc.constantFrom("access_token", "token_type", "expires_in", "scope", "refresh_token", "error", "id_token"),
      fc.oneof(fc.jsonValue(), fc.constant("sentinel\n"), fc.constant("Bearer")),
    );
    fc.assert(
      fc.property(fc.oneof(members, fc.jsonValue()), fc.integer({ min: 200, max: 599 }), (body, status) => {
        const outcome = failureOf(() => readTokenAnswer(answer(body, status), CONTEXT));
        if (isRemoteConnectorError(outcome)) {
          expect(["oauth_invalid", "oauth_refused"]).toContain(outcome.code);
          expect(JSON.stringify(outcome)).not.toContain("sentinel");
          return;
        }
        expect(outcome).not.toBeInstanceOf(Error);
        expect(outcome).toMatchObject({ accessToken: expect.stringMatching(/^[!-~]+$/) });
      }),
    );
  });
});
