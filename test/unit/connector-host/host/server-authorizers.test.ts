import { describe, expect, it } from "vitest";
import { oauthAccount } from "../../../../src/connector-host/host/server-authorizers.js";
import { WantedScopes } from "../../../../src/connector-host/host/wanted-scopes.js";
import { parseRegistration } from "../../../../src/connector-host/registration/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import type { AuthorizationRefusal, Authorizer } from "../../../../src/transport/index.js";
import { storedRegistration } from "../registration/registration.fixture.js";

const REQUEST = { url: "https://a/", method: "x", httpMethod: "POST", attempt: 1, operation: {} } as const;
const REFUSAL: AuthorizationRefusal = {
  request: REQUEST,
  status: 401,
  headers: {},
  challenges: [],
  sent: undefined,
  signal: new AbortController().signal,
};

function signInRequired(scopes: readonly string[]): Error {
  const details = { endpoint: "https://a/", reason: "no_token" as const, scopes };
  return new RemoteConnectorError("sign_in_required", { message: "", details });
}

function throwing(error: unknown): Authorizer {
  return {
    authorize: () => undefined,
    onRefused: () => {
      throw error;
    },
  };
}

describe("H-8, A-10: who a registration is signed in as", () => {
  it.each<[object, string | undefined]>([
    [{}, ""],
    [{ oauth: {} }, ""],
    [{ oauth: { account: "work" } }, "work"],
    [{ oauth: false }, undefined],
    [{ headers: { aUTHORIZATION: { secret: "a" } } }, undefined],
    [{ headers: { aUTHORIZATION: { secret: "a" } }, oauth: { account: "work" } }, undefined],
    [{ headers: { "X-Authorization": { secret: "a" } } }, ""],
  ])("H-8: %j", (settings, account) => {
    const stored = storedRegistration({ settings: { endpoint: "https://docs.example/mcp", ...settings } });
    expect(oauthAccount(parseRegistration(stored))).toBe(account);
  });
});

describe("A-8: the scopes that servers wanted", () => {
  it("A-8: are the last ones of each place, until somebody signs in", async () => {
    const wanted = new WantedScopes();
    expect(wanted.of("https://a/", "")).toEqual([]);
    for (const scopes of [["a"], ["a", "b"]]) {
      const error = signInRequired(scopes);
      await expect(wanted.watch("https://a/", "", throwing(error)).onRefused?.(REFUSAL)).rejects.toBe(error);
      expect(wanted.of("https://a/", "")).toEqual(scopes);
    }
    expect(wanted.of("https://a/", "work")).toEqual([]);
    const other = new Error("no");
    await expect(wanted.watch("https://a/", "", throwing(other)).onRefused?.(REFUSAL)).rejects.toBe(other);
    expect(wanted.of("https://a/", "")).toEqual(["a", "b"]);
    wanted.forget("https://a/", "");
    expect(wanted.of("https://a/", "")).toEqual([]);
  });

  it("A-8: are remembered of a bounded number of places, the newest", async () => {
    const wanted = new WantedScopes();
    for (let place = 0; place <= 1_024; place += 1) {
      const watched = wanted.watch(String(place), "", throwing(signInRequired(["a"])));
      await expect(watched.onRefused?.(REFUSAL)).rejects.toBeDefined();
    }
    expect([wanted.of("0", ""), wanted.of("1", ""), wanted.of("1024", "")]).toEqual([[], ["a"], ["a"]]);
  });

  it("A-8: change nothing of what an authorizer gives and answers", async () => {
    const wanted = new WantedScopes();
    const headers = { Authorization: "Bearer a" };
    const heard: unknown[] = [];
    const watched = wanted.watch("https://a/", "", {
      authorize: () => headers,
      onRefused: async () => true,
      onAnswered: (request, answered) => heard.push([request, answered]),
    });
    expect(watched.authorize(REQUEST)).toBe(headers);
    expect(await watched.onRefused?.(REFUSAL)).toBe(true);
    watched.onAnswered?.(REQUEST, {});
    expect(heard).toEqual([[REQUEST, {}]]);
  });
});
