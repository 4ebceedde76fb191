import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuthMethodFacts, chooseAuthMethod } from "../../../src/oauth/auth-method.js";

const NOTHING: AuthMethodFacts = { supported: undefined, hasSecret: false, hasKey: false };
const SECRET = { hasSecret: true };
const KEY = { hasKey: true };

describe("A-6: how a client authenticates", () => {
  it.each<[string, Partial<AuthMethodFacts>, string]>([
    ["by Basic where nothing is listed and there is a secret", SECRET, "client_secret_basic"],
    ["by nothing where nothing is listed and there is no secret", {}, "none"],
    ["by its key where it has nothing else", KEY, "private_key_jwt"],
    [
      "by Basic where all is listed",
      { ...SECRET, supported: ["none", "client_secret_post", "client_secret_basic"] },
      "client_secret_basic",
    ],
    [
      "in the form where Basic is not listed",
      { ...SECRET, supported: ["none", "client_secret_post"] },
      "client_secret_post",
    ],
    ["by nothing where nothing else is listed", { ...SECRET, supported: ["none"] }, "none"],
    ["by its key where that alone is listed", { ...SECRET, ...KEY, supported: ["private_key_jwt"] }, "private_key_jwt"],
    ["by its key rather than by nothing", { ...KEY, supported: ["none", "private_key_jwt"] }, "private_key_jwt"],
    [
      "as it can where nothing that is listed will do",
      { ...SECRET, supported: ["tls_client_auth"] },
      "client_secret_basic",
    ],
    ["as it can where a secret is wanted that it lacks", { supported: ["client_secret_post"] }, "none"],
    ["as it can where the list is empty", { ...SECRET, supported: [] }, "client_secret_basic"],
    [
      "as it was registered, whatever is listed",
      { ...SECRET, registered: "client_secret_post", supported: ["client_secret_basic"] },
      "client_secret_post",
    ],
    [
      "as it was registered, whatever it asked for",
      { ...SECRET, registered: "client_secret_post", asked: "none" },
      "client_secret_post",
    ],
    ["as it was registered, secret or not", { ...SECRET, registered: "none" }, "none"],
    [
      "as it asked, where the registration says nothing",
      { ...SECRET, asked: "client_secret_post" },
      "client_secret_post",
    ],
    [
      "as it asked, where the registration says what nobody knows",
      { ...SECRET, registered: "Basic", asked: "client_secret_post" },
      "client_secret_post",
    ],
    [
      "without the secret that a registration forgot",
      { registered: "client_secret_basic", asked: "client_secret_post" },
      "none",
    ],
    [
      "without a key that it lacks",
      { ...SECRET, registered: "private_key_jwt", supported: ["client_secret_post"] },
      "client_secret_post",
    ],
  ])("%s", (_title, facts, method) => {
    expect(chooseAuthMethod({ ...NOTHING, ...facts })).toBe(method);
  });

  it("never by what it does not have", () => {
    const word = fc.constantFrom("client_secret_basic", "client_secret_post", "none", "private_key_jwt", "mac", "");
    const facts = fc.record({
      registered: fc.option(word, { nil: undefined }),
      supported: fc.option(fc.array(word), { nil: undefined }),
      hasSecret: fc.boolean(),
      hasKey: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const method = chooseAuthMethod(given);
        if (!given.hasSecret) expect(method).not.toContain("client_secret");
        if (!given.hasKey) expect(method).not.toBe("private_key_jwt");
      }),
    );
  });
});
