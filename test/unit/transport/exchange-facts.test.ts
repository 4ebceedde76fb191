import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { resultOfAbort, resultOfAnswer, resultOfError } from "../../../src/transport/exchange-facts.js";

const peer = { rpcMessage: "no", rpcData: undefined };

describe("F-19: what an exchange came to", () => {
  it("F-19: a result, also one of a tool that failed, is answered", () => {
    expect(resultOfAnswer({})).toEqual({ delivery: "answered" });
    expect(resultOfAnswer({ isError: false })).toEqual({ delivery: "answered" });
    expect(resultOfAnswer({ isError: "yes" })).toEqual({ delivery: "answered" });
    expect(resultOfAnswer({ isError: true })).toEqual({ delivery: "answered", errorType: "tool_error" });
  });

  it.each<[RemoteConnectorError, object]>([
    [
      new RemoteConnectorError("peer_error", {
        message: "no",
        delivery: "answered",
        details: { rpcCode: -32_602, httpStatus: 400, ...peer },
      }),
      { delivery: "answered", errorType: "-32602", rpcCode: -32_602, httpStatus: 400 },
    ],
    [
      new RemoteConnectorError("peer_error", { message: "no", delivery: "answered", details: { rpcCode: 0, ...peer } }),
      { delivery: "answered", errorType: "0", rpcCode: 0, httpStatus: undefined },
    ],
    [
      new RemoteConnectorError("unexpected_answer", {
        message: "no",
        delivery: "unknown",
        details: { status: 503, mediaType: "text/plain", snippet: "", reason: "no success" },
      }),
      { delivery: "unknown", errorType: "unexpected_answer", httpStatus: 503 },
    ],
    [
      new RemoteConnectorError("cancelled", { message: "closed", details: { reason: "closed" } }),
      { delivery: "not_sent", errorType: "cancelled" },
    ],
  ])("F-19: %s", (error, result) => {
    expect(resultOfError(error)).toEqual(result);
  });

  it("F-19: what is no error of ours, and an abort", () => {
    expect(resultOfError(new Error("oh"))).toEqual({ delivery: "unknown", errorType: "internal_error" });
    expect(resultOfAbort("not_sent")).toEqual({ delivery: "not_sent", errorType: "aborted" });
  });
});
