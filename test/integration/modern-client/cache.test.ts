import { describe, expect, it } from "vitest";
import { FakeClock } from "../../support/fake-clock.js";
import { bodies, connect, event, rpcError, serve, stream } from "./support.js";

const page = { tools: [{ name: "t", inputSchema: { type: "object" } }], ttlMs: 1_000 };

describe("the cache", () => {
  it("W-31: nothing is kept unless asked", async () => {
    const server = await serve(() => page);
    const client = connect(server.url);
    await client.listTools();
    await client.listTools();
    expect(server.requests).toHaveLength(2);
  });

  it("W-31: a fresh page is given again, with its exact bytes, and fetched anew when it is stale or by wish", async () => {
    const clock = new FakeClock();
    const server = await serve(() => page);
    const client = connect(server.url, { cache: true, clock });
    const first = await client.listTools(undefined, { detail: true });
    const again = await client.listTools(undefined, { detail: true, meta: { "example.com/a": 1 } });
    expect(again.result).toEqual(first.result);
    expect(again.result.tools[0]).not.toBe(first.result.tools[0]);
    expect(Buffer.from(again.raw)).toEqual(Buffer.from(first.raw));
    await expect(client.listAllTools()).resolves.toMatchObject({ tools: page.tools });
    expect(server.requests).toHaveLength(1);
    await client.listTools({}, { cache: "refresh" });
    clock.step(1_000);
    await client.listTools();
    expect(server.requests).toHaveLength(3);
  });

  it("W-31: what an authorized client is told in private is kept for its context alone", async () => {
    const server = await serve(() => page);
    const authorize = () => ({ Authorization: "Bearer x" });
    const without = connect(server.url, { cache: true, authorize });
    await without.listTools();
    await without.listTools();
    expect(server.requests).toHaveLength(2);
    let account = "a";
    const client = connect(server.url, { cache: { context: () => account }, authorize });
    for (const one of ["a", "a", "b", "a"]) {
      account = one;
      await client.listTools();
    }
    expect(server.requests).toHaveLength(4);
  });

  it("W-31: a change that is told of on a call's stream drops the list", async () => {
    const server = await serve((method, request) => {
      if (method === "tools/list") return page;
      const { id }: { id: number } = JSON.parse(request.body);
      return stream(event({ method: "notifications/tools/list_changed" }), event({ id, result: {} }));
    });
    const client = connect(server.url, { cache: true });
    await client.listTools();
    await client.request("a/b");
    await client.listTools();
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/list", "a/b", "tools/list"]);
  });

  it("W-31: neither a result that asks for input nor one that was given for input is kept", async () => {
    const contents = { contents: [], ttlMs: 1_000 };
    const server = await serve((_, request) =>
      request.body.includes("requestState")
        ? contents
        : { resultType: "input_required", requestState: "s", ttlMs: 1_000 },
    );
    const client = connect(server.url, { cache: true });
    await expect(client.readResource({ uri: "a:b" })).resolves.toEqual(contents);
    await expect(client.readResource({ uri: "a:b" })).resolves.toEqual(contents);
    expect(server.requests).toHaveLength(4);
  });

  it("W-24, W-31: headers are corrected from a new list, a walk begins anew without what is kept", async () => {
    let header = "Old";
    const server = await serve((method, request) => {
      if (method === "tools/list") {
        const schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } };
        return { tools: [{ name: "run", inputSchema: schema }], ttlMs: 1_000 };
      }
      return request.header("mcp-param-new") === "eu" ? { content: [] } : rpcError(request, -32020);
    });
    const client = connect(server.url, { cache: true });
    await client.listAllTools();
    header = "New";
    await expect(client.callTool({ name: "run", arguments: { region: "eu" } })).resolves.toEqual({ content: [] });
    let refused = false;
    const lists = await serve((_, request) => {
      if (!request.body.includes("cursor")) return { ...page, nextCursor: refused ? null : "c" };
      refused = true;
      return rpcError(request, -32602);
    });
    await expect(connect(lists.url, { cache: true }).listAllTools()).resolves.toMatchObject({ tools: page.tools });
    expect(lists.requests).toHaveLength(3);
  });

  it("F-2: an aborted signal comes before what is kept", async () => {
    const server = await serve(() => page);
    const client = connect(server.url, { cache: true });
    await client.listTools();
    await expect(client.listTools({}, { signal: AbortSignal.abort(0) })).rejects.toBe(0);
  });
});
