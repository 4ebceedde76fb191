import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import type { CallOptions } from "../../../src/modern-client/index.js";
import { bodies, connect, regionTool, rpcError, serve } from "./support.js";

type Settled = Parameters<NonNullable<CallOptions["onSettled"]>>[0];

describe("onSettled", () => {
  it("F-2: is told of the end once, with the verdict of the promise, also for an abort and for what is never sent", async () => {
    const server = await serve((method, request) => {
      if (method === "tools/list") return { tools: [] };
      return method === "a/fails" ? rpcError(request, -32000) : method === "a/hangs" ? Buffer.alloc(0) : {};
    });
    const client = connect(server.url);
    const told: Settled[] = [];
    const onSettled = (settled: Settled): void => {
      told.push(settled);
      throw new Error("nobody's");
    };
    await client.request("a/b", {}, { onSettled });
    await client.listAllTools({ onSettled });
    await client.callTool({ name: "t" }, { onSettled, detail: true });
    expect(told.map(({ outcome, delivery }) => [outcome, delivery])).toEqual([
      ["resolved", "answered"],
      ["resolved", "answered"],
      ["resolved", "answered"],
    ]);
    told.length = 0;
    const controller = new AbortController();
    const hanging = client.request("a/hangs", {}, { onSettled, signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(4);
    controller.abort(0);
    await expect(hanging).rejects.toBe(0);
    await expect(client.request("a/fails", {}, { onSettled })).rejects.toMatchObject({ code: "peer_error" });
    await expect(client.request("no method", {}, { onSettled })).rejects.toMatchObject({ code: "invalid_argument" });
    const aborted = client.listAllPrompts({ onSettled, signal: controller.signal });
    await expect(aborted).rejects.toBe(0);
    expect(told).toMatchObject([
      { outcome: "rejected", delivery: "unknown", reason: 0 },
      { outcome: "rejected", delivery: "answered", reason: { code: "peer_error" } },
      { outcome: "rejected", delivery: "not_sent", reason: { code: "invalid_argument" } },
      { outcome: "rejected", delivery: "not_sent", reason: 0 },
    ]);
    expect([hanging, aborted].map(deliveryOf)).toEqual(["unknown", "not_sent"]);
  });
});

describe("tools that were never listed", () => {
  it("W-25: by option they are called at once, and listed when the server misses their headers", async () => {
    const server = await serve((method, request) => {
      if (method === "tools/list") return { tools: [regionTool("Region")] };
      return request.header("mcp-param-region") === "eu" ? { content: [] } : rpcError(request, -32020);
    });
    const client = connect(server.url, { unknownTools: "call" });
    await expect(client.callTool({ name: "run", arguments: { region: "eu" } })).resolves.toEqual({ content: [] });
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/call", "tools/list", "tools/call"]);
  });

  it.each([
    ["unknownTools", { unknownTools: "guess" }],
    ["maxInputRounds", { maxInputRounds: -1 }],
    ["capabilities", { capabilities: { roots: true } }],
  ])("F-17: %s out of range is refused when the client is made", (option, options) => {
    // @ts-expect-error -- what a caller in JavaScript can do
    const make = () => connect("http://127.0.0.1:1/mcp", options);
    expect(make).toThrowError(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
    );
  });
});
