import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { FlowClient, LoginGuard } from "../../../../src/auth-projection/index.js";
import type { Exchange, ExchangeHandler, ExchangeRequest } from "../../../../src/transport/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";
import { bytes } from "../bodies.js";
import { track } from "./world.js";

/** An exchange that remembers what it was given and answers by hand. */
class ScriptedExchange implements Exchange {
  readonly origin = "https://control.example";
  readonly capabilities = new Set(["admitsSynchronously", "connectDeadline"] as const);
  readonly requests: ExchangeRequest[] = [];
  handler: ExchangeHandler | undefined;
  destroyed = 0;
  readonly control = { abort: () => undefined };

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
    this.destroyed += 1;
    return Promise.resolve();
  }
}

const never = new AbortController().signal;
const known = { sessionId: "s-1", connectorVersion: "1.0.0" };

function setUp() {
  const clock = new FakeClock();
  const exchange = new ScriptedExchange();
  const logins = new LoginGuard({ authorize: () => ({ cookie: "session=1" }) });
  const login = logins.signIn("acc");
  const client = new FlowClient({ controlBase: "https://control.example/api/", login, logins, exchange, clock });
  return { client, clock, exchange, login, logins };
}

/** The body as it is now: it is sent as the bytes that they are. */
function bodyOf({ body }: ExchangeRequest): string {
  if (!(body instanceof Uint8Array)) throw new Error("the secret was made a text");
  return new TextDecoder().decode(body);
}

it.each([
  ["an answer", (exchange: ScriptedExchange) => exchange.answer(200, { session: {} })],
  ["a refusal", (exchange: ScriptedExchange) => exchange.answer(422, { code: "no" })],
  [
    "a broken connection",
    (exchange: ScriptedExchange) => exchange.handler?.onResponseError(exchange.control, new Error("reset")),
  ],
])("P-10 ★: the encoded secret is bytes, and overwritten after %s", async (_what, end) => {
  const { client, exchange } = setUp();
  const completing = track(client.complete(known, new TextEncoder().encode("k"), never));
  await settle();
  const [request] = exchange.requests;
  if (request === undefined) throw new Error("nothing was asked");
  expect(bodyOf(request)).toBe('{"secret":{"secret":"k"}}');
  expect(request.path).toBe("/api/v1/connector-authorization-sessions/s-1/complete");
  end(exchange);
  await settle();
  expect(completing.error).toBeDefined();
  expect(bodyOf(request)).toBe("\0".repeat(25));
});

it("P-10: one that has no answer in 30 seconds is given up, and overwritten", async () => {
  const { client, clock, exchange } = setUp();
  const completing = track(client.complete(known, new TextEncoder().encode("k"), never));
  await clock.advance(30_000);
  expect(completing.error).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
  expect(exchange.requests.map(bodyOf)).toEqual(["\0".repeat(25)]);
  expect(clock.pending).toBe(0);
});

it("P-8: the end of the login destroys the connections, and leaves no listener", async () => {
  const { client, exchange, login, logins } = setUp();
  const signal = logins.signalOf(login);
  logins.signOut();
  expect(exchange.destroyed).toBeGreaterThan(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await client.close();
});

it("P-8: a closed client asks nothing", async () => {
  const { client, exchange } = setUp();
  await client.close();
  await expect(client.observe(known, never)).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
  expect(exchange.requests).toEqual([]);
});
