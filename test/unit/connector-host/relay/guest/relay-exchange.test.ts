import { describe, expect, it } from "vitest";
import { RelayExchange } from "../../../../../src/connector-host/relay/guest/relay-exchange.js";
import type { Exchange, ExchangeHandler } from "../../../../../src/transport/index.js";

/** What a handler is told of an answer with this head, and then data and an end, and whether the rest was given up. */
function tellOf(headers: Record<string, string>, end: "end" | "error" = "end") {
  const told: string[] = [];
  let givenUp = 0;
  const control = { abort: () => void (givenUp += 1) };
  const inner: Exchange = {
    origin: "http://localhost",
    capabilities: new Set(["admitsSynchronously", "connectDeadline", "cookies"]),
    dispatch(_request, handler) {
      handler.onRequestStart(control);
      handler.onResponseStart(control, 200, headers);
      handler.onResponseData(control, Buffer.from("x"));
      if (end === "end") handler.onResponseEnd(control);
      else handler.onResponseError(control, new Error("cut"));
    },
    destroy: () => Promise.resolve(),
  };
  const handler: ExchangeHandler = {
    onRequestStart: () => void told.push("start"),
    onResponseStart: (_control, status) => void told.push(`head ${String(status)}`),
    onResponseData: (_control, chunk) => void told.push(`data ${String(chunk)}`),
    onResponseEnd: () => void told.push("end"),
    onResponseError: (_control, error, notSent) =>
      void told.push(`error ${String(notSent)} ${Reflect.get(error, "code")}`),
  };
  const exchange = new RelayExchange(inner);
  exchange.dispatch({ method: "POST", path: "/v1/relay", headers: [], body: "" }, handler);
  return { told, givenUp, exchange };
}

describe("H-7: the exchange by way of a relay", () => {
  it("is that of the gateway while it answers", () => {
    const headers = { "relay-outcome": "answered" };
    expect(tellOf(headers).told).toEqual(["start", "head 200", "data x", "end"]);
    expect(tellOf(headers, "error").told).toEqual(["start", "head 200", "data x", "error undefined undefined"]);
  });

  it.each(["end", "error"] as const)("says once what there is to say of a request without an answer (%s)", (end) => {
    const refused = { "relay-outcome": "not_sent", "relay-reason": "busy", "content-length": "0" };
    const { told, givenUp } = tellOf(refused, end);
    expect(told).toEqual(["start", "error true relay_refused"]);
    // Its end is at hand, and the connection good.
    expect(givenUp).toBe(0);
    expect(tellOf({ "relay-outcome": "unknown", "content-length": "0" }, end).told).toEqual([
      "start",
      "error false connection_broken",
    ]);
  });

  it.each([{}, { "content-length": "5" }])("reads nothing of what is no relay's: %j", (headers) => {
    const { told, givenUp } = tellOf(headers);
    expect(told).toEqual(["start", "error false unexpected_answer"]);
    expect(givenUp).toBe(1);
  });

  it("F-20: can what the exchange under it can, but for cookies, which are the desktop's", () => {
    const { exchange } = tellOf({});
    expect([...exchange.capabilities]).toEqual(["admitsSynchronously", "connectDeadline"]);
    expect(exchange.origin).toBe("http://localhost");
  });
});
