import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import type { Authorize } from "../../../src/transport/authorize.js";
import { askAuthorizer } from "../../../src/transport/call-authorization.js";

/** Asks, and gives what was told by the time that the asking is over, and later. */
function ask(authorize: Authorize) {
  const told: unknown[] = [];
  askAuthorizer(
    { authorize },
    { url: "https://mcp.test/", method: "tools/call", httpMethod: "POST", attempt: 1, operation: {} },
    { onAuthorized: (headers) => told.push(headers), onUnauthorized: (error) => told.push(error) },
  );
  return told;
}

const failed = (reason: string) => ({ code: "authorize_failed", delivery: "not_sent", details: { reason } });

describe("asking an authorizer", () => {
  it("tells what is there at once at once, and promises when they are kept", async () => {
    expect(ask(() => ({ Authorization: "a" }))).toEqual([{ Authorization: "a" }]);
    expect(ask(() => undefined)).toEqual([undefined]);
    const told = ask(() => Promise.resolve({ Authorization: "b" }));
    expect(told).toEqual([]);
    await Promise.resolve();
    expect(told).toEqual([{ Authorization: "b" }]);
  });

  it("F-1: whatever goes wrong is told once, and nothing was sent", async () => {
    const own = new RemoteConnectorError("invalid_header", {
      message: "no",
      details: { header: "X", reason: "no" },
    });
    const cause = new Error("locked");
    const fail = (error: unknown): never => {
      throw error;
    };
    expect(ask(() => fail(cause))).toMatchObject([{ ...failed("the authorizer threw"), cause }]);
    expect(ask(() => fail(own))).toEqual([own]);
    const told = ask(() => Promise.reject(cause));
    await Promise.resolve();
    expect(told).toMatchObject([failed("the authorizer threw")]);
    // What callers without types can give.
    for (const odd of [null, "Bearer x", 0, false]) {
      expect(ask(() => Object(JSON.parse(JSON.stringify({ odd }))).odd)).toMatchObject([
        failed("not an object of headers"),
      ]);
    }
  });
});
