import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactJson } from "../../../../src/connector-host/journal/index.js";

function redacted(value: unknown): unknown {
  return JSON.parse(redactJson(JSON.stringify(value)) ?? "null");
}

describe("redactJson", () => {
  it.each([
    "password",
    "PASSWORD",
    "userPassword",
    "api_key",
    "apiKey",
    "API-KEY",
    "x.api.key",
    "accessToken",
    "Authorization",
    "Set-Cookie",
    "client_secret",
    "privateKey",
    "sessionId",
    "pin",
  ])("H-35, F-6: the value of a member called %s is masked, whatever it is", (name) => {
    for (const value of ["s3cret", 1, null, { deep: "s3cret" }, ["s3cret"]]) {
      expect(redacted({ a: [{ [name]: value }] })).toEqual({ a: [{ [name]: "[redacted]" }] });
    }
  });

  it("H-35: other members stay as they are", () => {
    const value = { q: "x", n: 0, empty: "", no: null, list: [1, "two"], pinned: true, monkey: "a" };
    expect(redacted(value)).toEqual(value);
  });

  it("H-35, F-6: what looks like a secret is masked in any text", () => {
    expect(
      redacted([
        "curl -H 'Authorization: Bearer abcdefgh12345678'",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "https://me:pw@host/x",
        "key sk-abcdefghijklmnopqrst",
        "at id_eyJhbGciOi, and see.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "nothing here, not even in eyJhbGciOiJIUzI1NiJ9",
      ]),
    ).toEqual([
      "curl -H 'Authorization: [redacted]'",
      "[redacted]",
      "https://[redacted]@host/x",
      "key [redacted]",
      "at id_eyJhbGciOi, and see.[redacted]",
      "nothing here, not even in eyJhbGciOiJIUzI1NiJ9",
    ]);
  });

  it("H-35, F-6: what looks like a secret is masked in names of members too", () => {
    expect(redacted({ "Bearer abcdefgh12345678": 1 })).toEqual({ "[redacted]": "[redacted]" });
    expect(redacted({ "key sk-abcdefghijklmnopqrst": 1 })).toEqual({ "key [redacted]": 1 });
  });

  it("H-35, F-6: the value of a pair that names a secret is masked", () => {
    const headers = [
      { name: "X-Api-Key", value: "s3cret" },
      { key: "PASSWORD", value: ["s3cret"] },
      { name: "Accept", value: "text/plain" },
      { name: "token" },
    ];
    expect(redacted({ headers })).toEqual({
      headers: [{ ...headers[0], value: "[redacted]" }, { ...headers[1], value: "[redacted]" }, headers[2], headers[3]],
    });
  });

  it.each(["eyJ-", "a.eyJ-", "://", "bearer ", "sk-", "eyJaaaaaaaa.", "[", "a"])(
    "H-35: a body made of %j takes no longer than one of its size may",
    (part) => {
      for (const text of [
        part.repeat((256 * 1024) / part.length),
        `.${part.repeat(60_000)}`,
        `bearer${part.repeat(60_000)}`,
      ]) {
        const startedAt = performance.now();
        redactJson(JSON.stringify({ text }));
        expect(performance.now() - startedAt).toBeLessThan(1_000);
      }
    },
  );

  it("H-35: texts that are JSON themselves are looked into, as results of tools are", () => {
    const text = JSON.stringify({ token: "t", rows: [JSON.stringify({ password: "p" })] });
    const expected = JSON.stringify({ token: "[redacted]", rows: ['{"password":"[redacted]"}'] });
    expect(redacted({ content: [{ type: "text", text }] })).toEqual({ content: [{ type: "text", text: expected }] });
  });

  it("H-35: of what is no JSON, and of what lies too deep, nothing is kept", () => {
    expect(redactJson("password=hunter2")).toBeUndefined();
    const deep = "[".repeat(5_000) + '"s3cret"' + "]".repeat(5_000);
    expect(redactJson(deep)).not.toContain("s3cret");
  });

  it("H-35: no value of a member that is called like a secret is left, wherever it is", () => {
    const secret = "zq9-secret-value";
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.string(),
        fc.integer(),
        fc.record({ token: fc.constant(secret) }),
        fc.array(tie("tree")),
        fc.dictionary(fc.string(), tie("tree")),
        tie("tree").map((inner) => JSON.stringify({ password: secret, inner })),
      ),
    }));
    fc.assert(fc.property(tree, (value) => !(redactJson(JSON.stringify(value)) ?? "").includes(secret)));
  });
});
