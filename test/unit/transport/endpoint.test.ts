import { describe, expect, it } from "vitest";
import { addHeaders } from "../../../src/transport/headers.js";
import { parseEndpoint, shownUrl } from "../../../src/transport/endpoint.js";
import { RequestSlots } from "../../../src/transport/request-slots.js";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import { resolveModernHttpOptions } from "../../../src/modern-client/http-client-options.js";

describe("F-15: the endpoint policy", () => {
  const policy = { allowInsecureHttp: false };

  it.each([
    "https://example.test/mcp",
    "http://localhost:1/",
    "http://127.0.0.1/",
    "http://127.9.9.9/",
    "http://[::1]:8/x?y=1",
  ])("%s is fine", (url) => {
    expect(parseEndpoint(url, policy).href).toBe(new URL(url).href);
  });

  it.each([
    ["not a url", "not an absolute URL"],
    ["/mcp", "not an absolute URL"],
    ["ftp://example.test/", "neither https nor http"],
    ["https://user:secret@example.test/", "holds userinfo"],
    ["https://example.test/#secret", "holds a fragment"],
    ["http://example.test/?token=secret", "plain http"],
    ["http://127.0.0.1.example.test/", "plain http"],
    ["http://localhost.example.test/", "plain http"],
  ])("%s is refused, and shows no secret", (url, reason) => {
    let error: unknown;
    try {
      parseEndpoint(url, policy);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({
      code: "invalid_url",
      delivery: "not_sent",
      details: { reason: expect.stringContaining(reason) },
    });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("plain http elsewhere needs an option whose name says so", () => {
    expect(parseEndpoint("http://example.test/", { allowInsecureHttp: true }).host).toBe("example.test");
  });

  it("F-6: a URL is shown without userinfo, fragment and query values", () => {
    expect(shownUrl(new URL("https://u:p@h.test:8/p?a=secret&b=#f"))).toBe("https://h.test:8/p?a=…&b=…");
  });
});

describe("F-17: headers", () => {
  it.each([
    "Accept",
    "content-type",
    "Host",
    "Content-Length",
    "Mcp-Method",
    "MCP-Protocol-Version",
    "mcp-param-x",
    "Transfer-Encoding",
    "Connection",
  ])("%s can't be configured", (header) => {
    expect(() => addHeaders([], { [header]: "x" })).toThrow(
      expect.objectContaining({ code: "invalid_header", delivery: "not_sent" }),
    );
  });

  it.each([
    ["bad name", "x"],
    ["", "x"],
    ["X", "a\nb"],
    ["X", "snow \u2603"],
  ])("%j: %j can't be sent", (header, value) => {
    expect(() => addHeaders([], { [header]: value })).toThrow(expect.objectContaining({ code: "invalid_header" }));
  });

  it("a header that is there already is replaced, whatever its case: two credentials are none", () => {
    const list = ["Authorization", "Bearer configured", "X", "1"];
    addHeaders(list, { authorization: "Bearer of this request", x: "2" });
    expect(list).toEqual(["Authorization", "Bearer of this request", "X", "2"]);
  });

  it("others are appended as they are", () => {
    const list = ["A", "b"];
    addHeaders(list, { Cookie: "session=1", "X-Empty": "" });
    expect(list).toEqual(["A", "b", "Cookie", "session=1", "X-Empty", ""]);
  });
});

describe("options of the modern client", () => {
  const given = { endpoint: "https://example.test/mcp", clientInfo: { name: "t", version: "1" } };

  it("F-7, F-10: the defaults", () => {
    const { client, channel } = resolveModernHttpOptions(given);
    expect(channel.transport).toMatchObject({
      connectTimeoutMs: 30_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: 3_600_000,
      maxBodyBytes: 64 * 1024 * 1024,
      maxEventBytes: 16 * 1024 * 1024,
      maxErrorBodyBytes: 64 * 1024,
      maxConcurrentRequests: 64,
      maxQueuedRequests: 1_000,
    });
    expect(client.walk).toEqual({ maxPages: 64, maxItems: 10_000, maxListBytes: 64 * 1024 * 1024 });
    expect(channel.headers).toEqual([
      "Content-Type",
      "application/json",
      "Accept",
      "application/json, text/event-stream",
      "MCP-Protocol-Version",
      "2026-07-28",
    ]);
  });

  it("what has no JSON form can't be declared", () => {
    expect(() => resolveModernHttpOptions({ ...given, capabilities: { n: 1n } })).toThrow(
      expect.objectContaining({ code: "invalid_options" }),
    );
  });

  it("F-15: an exchange for another origin is refused", () => {
    const exchange = {
      origin: "https://elsewhere.test",
      capabilities: new Set<never>(),
      dispatch: () => undefined,
      destroy: () => Promise.resolve(),
    };
    expect(() => new ModernStreamableHTTPClient({ ...given, exchange })).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option: "exchange" }) }),
    );
  });

  it.each([
    [{ capabilities: "all" }, { option: "capabilities" }],
    [{ endpiont: "x" }, { option: "endpiont", suggestion: "endpoint" }],
    [{ idleTimeoutMs: 0 }, { option: "idleTimeoutMs" }],
    [{ maxPages: 0 }, { option: "maxPages" }],
    [{ clientInfo: { name: "t" } }, { option: "clientInfo" }],
  ])("%j is refused by name", (options, details) => {
    expect(() => resolveModernHttpOptions({ ...given, ...(options as object) })).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining(details) }),
    );
  });
});

describe("RequestSlots", () => {
  it("serves in the order of asking, never more at once than allowed, and forgets who left", () => {
    const slots = new RequestSlots({ maxConcurrentRequests: 2, maxQueuedRequests: 10 });
    const served: number[] = [];
    const waiters = Array.from({ length: 6 }, (_, index) => ({ onSlot: () => void served.push(index) }));
    for (const waiter of waiters) slots.take(waiter);
    expect(served).toEqual([0, 1]);
    if (waiters[3] !== undefined) slots.leave(waiters[3]);
    slots.release();
    slots.release();
    expect(served).toEqual([0, 1, 2, 4]);
    slots.release();
    slots.release();
    slots.release();
    slots.release();
    expect(served).toEqual([0, 1, 2, 4, 5]);
    slots.take({ onSlot: () => void served.push(9) });
    expect(served.at(-1)).toBe(9);
  });

  it("F-10: any number of waiters that are done at once are served on one stack", () => {
    const slots = new RequestSlots({ maxConcurrentRequests: 1, maxQueuedRequests: 200_000 });
    let served = 0;
    const done = {
      onSlot() {
        served += 1;
        slots.release();
      },
    };
    slots.take({ onSlot: () => undefined });
    const waiters = Array.from({ length: 100_000 }, () => ({ ...done }));
    for (const waiter of waiters) slots.take(waiter);
    slots.release();
    expect(served).toBe(100_000);
    slots.take(done);
    expect(served).toBe(100_001);
  });
});
