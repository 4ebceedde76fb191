import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type AccountAuthorizer, LoginGuard, SnapshotClient } from "../../../src/auth-projection/index.js";
import type { Exchange, ExchangeHandler, ExchangeRequest, HeaderMap } from "../../../src/transport/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { bytes, entry } from "./bodies.js";
import { deferred } from "./deferred.js";

/** An exchange that remembers what it was asked and answers by hand. */
class ScriptedExchange implements Exchange {
  readonly origin: string;
  readonly capabilities = new Set(["admitsSynchronously", "connectDeadline"] as const);
  readonly requests: ExchangeRequest[] = [];
  handler: ExchangeHandler | undefined;
  aborted = 0;
  readonly control = { abort: () => void (this.aborted += 1) };

  constructor(origin: string) {
    this.origin = origin;
  }

  dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
    this.requests.push(request);
    this.handler = handler;
    handler.onRequestStart(this.control);
  }

  answer(status: number, body: unknown): void {
    this.handler?.onResponseStart(this.control, status, { "content-type": "application/json" });
    this.handler?.onResponseData(this.control, bytes(body));
    this.handler?.onResponseEnd(this.control);
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

function setUp(
  authorize: AccountAuthorizer["authorize"] = () => ({ cookie: "session=1" }),
  controlBase = "https://control.example/api/desktop/",
) {
  const clock = new FakeClock();
  const origin = URL.canParse(controlBase) ? new URL(controlBase).origin : "";
  const exchange = new ScriptedExchange(origin);
  const logins = new LoginGuard({ authorize });
  const login = logins.signIn("acc");
  const client = new SnapshotClient({
    controlBase,
    login,
    logins,
    exchange,
    clock,
  });
  const caller = new AbortController();
  return { caller, client, clock, exchange, login, logins };
}

describe("P-1: the request for a snapshot", () => {
  it.each([
    ["https://control.example", "/v1/connector-authorizations/snapshot"],
    ["https://control.example/", "/v1/connector-authorizations/snapshot"],
    ["https://control.example/api/desktop", "/api/desktop/v1/connector-authorizations/snapshot"],
    ["https://control.example/api/desktop//", "/api/desktop/v1/connector-authorizations/snapshot"],
    ["http://127.0.0.1:8080/x", "/x/v1/connector-authorizations/snapshot"],
    ["http://localhost", "/v1/connector-authorizations/snapshot"],
    ["http://[::1]:1", "/v1/connector-authorizations/snapshot"],
  ])("P-1: below the base %s", async (base, path) => {
    const { caller, client, exchange } = setUp(undefined, base);
    const fetched = client.fetch(caller.signal);
    await settle();
    exchange.answer(200, { revision: 3, connectors: [entry("github")] });
    expect((await fetched).entries).toHaveLength(1);
    expect(exchange.requests).toMatchObject([
      { method: "GET", path, body: null, headers: ["Accept", "application/json", "cookie", "session=1"] },
    ]);
  });

  it.each([
    ["http://control.example"],
    ["ftp://control.example"],
    ["https://user@control.example"],
    ["https://user:pass@control.example"],
    ["https://control.example/?a=1"],
    ["https://control.example/?"],
    ["https://control.example/#part"],
    ["/relative"],
    [""],
  ])("P-1: the base %s is refused", (base) => {
    expect(() => setUp(undefined, base)).toThrow(
      expect.objectContaining({ code: "invalid_url", delivery: "not_sent" }),
    );
  });

  it("P-1: credentials are read for each request", async () => {
    let session = 0;
    const { caller, client, exchange } = setUp(() => ({ cookie: `session=${String((session += 1))}` }));
    for (const expected of ["session=1", "session=2"]) {
      const fetched = client.fetch(caller.signal);
      await settle();
      exchange.answer(200, { revision: 1, connectors: [] });
      await fetched;
      expect(exchange.requests.at(-1)?.headers).toContain(expected);
    }
  });

  it("P-1: without credentials nothing is sent", async () => {
    const { caller, client, exchange } = setUp(() => undefined);
    await expect(client.fetch(caller.signal)).rejects.toMatchObject({
      code: "account_not_ready",
      delivery: "not_sent",
    });
    expect(exchange.requests).toEqual([]);
  });

  it.each([
    ["the authorizer", () => new Promise<undefined>(() => undefined), "not_sent"],
    ["the answer", () => ({ cookie: "c" }), "unknown"],
  ])("P-1: 30 seconds for everything, %s included", async (_, authorize, delivery) => {
    const { caller, client, clock } = setUp(authorize);
    let error: unknown;
    client.fetch(caller.signal).catch((caught: unknown) => (error = caught));
    await clock.advance(29_990);
    expect(error).toBeUndefined();
    await clock.advance(10);
    expect(error).toMatchObject({ code: "timeout", delivery, details: { phase: "total", limitMs: 30_000 } });
    expect(clock.pending).toBe(0);
  });

  it("F-2: the caller's abort rejects with its reason, and destroys the exchange", async () => {
    const { caller, client, exchange } = setUp();
    const fetched = client.fetch(caller.signal);
    await settle();
    caller.abort("enough");
    await expect(fetched).rejects.toBe("enough");
    expect(exchange.aborted).toBe(1);
  });

  it("P-8: the end of the login ends what runs, and what comes later", async () => {
    const { caller, client, exchange, login, logins } = setUp();
    const signal = logins.signalOf(login);
    const fetched = client.fetch(caller.signal);
    await settle();
    logins.signIn("acc");
    await expect(fetched).rejects.toMatchObject({ code: "cancelled" });
    await expect(client.fetch(caller.signal)).rejects.toMatchObject({ code: "cancelled" });
    expect([exchange.requests.length, exchange.aborted]).toEqual([1, 1]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("P-8: an authorizer that answers after the login ended sends nothing", async () => {
    const headers = deferred<HeaderMap>();
    const { caller, client, exchange, logins } = setUp(() => headers.promise);
    const fetched = client.fetch(caller.signal);
    await settle();
    logins.signOut();
    headers.resolve({ cookie: "late" });
    await expect(fetched).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(exchange.requests).toEqual([]);
  });

  it("P-8: closing leaves no listener on the login", async () => {
    const { client, login, logins } = setUp();
    await client.close();
    expect(getEventListeners(logins.signalOf(login), "abort")).toEqual([]);
  });
});
