import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createFetchExchange } from "../../../src/transport/index.js";
import { httpAnswer } from "../../support/raw-server.js";
import { connect, serve } from "./support.js";

const folders: string[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe("headers from elsewhere", () => {
  it("F-17: from the environment, from a file that may change, and from a function for each request", async () => {
    const folder = await mkdtemp(join(tmpdir(), "headers-"));
    folders.push(folder);
    const file = join(folder, "token");
    await writeFile(file, "first\n");
    vi.stubEnv("EXAMPLE_TENANT", "acme");
    const server = await serve(() => ({}));
    const headers = {
      "X-Plain": "p",
      "X-Tenant": { env: "EXAMPLE_TENANT" },
      "X-Token": { file },
      "X-Method": ({ method }: { readonly method: string }) => method,
    };
    const client = connect(server.url, { headers, authorize: () => ({ Authorization: "Bearer b" }) });
    await client.request("a/b");
    await writeFile(file, "second\n");
    await client.request("a/b");
    const seen = server.requests.map((request) =>
      ["X-Plain", "X-Tenant", "X-Token", "Authorization"].map((name) => request.header(name)),
    );
    expect(seen).toEqual([
      ["p", "acme", "first", "Bearer b"],
      ["p", "acme", "second", "Bearer b"],
    ]);
    await rm(file);
    await expect(client.request("a/b")).rejects.toMatchObject({ code: "invalid_header", delivery: "not_sent" });
    expect(server.requests).toHaveLength(2);
  });

  it("F-17: a variable that is not set, and a reserved name, fail when the client is made", () => {
    vi.stubEnv("EXAMPLE_TENANT", undefined);
    const make = (headers: object) => () => connect("http://127.0.0.1:1/mcp", { headers: { ...headers } });
    const refused = expect.objectContaining({ code: "invalid_header" });
    expect(make({ "X-Tenant": { env: "EXAMPLE_TENANT" } })).toThrowError(refused);
    expect(make({ "Mcp-Method": () => "x" })).toThrowError(refused);
  });
});

describe("redirects", () => {
  it("F-14: a 308 to the same origin is followed with everything; a 301 is refused with what would help", async () => {
    const server = await serve((method, request) => {
      if (request.head.startsWith("POST /mcp/ ")) return { method };
      const status = method === "a/moved" ? 301 : 308;
      return httpAnswer("", { status, headers: "Location: /mcp/\r\n" });
    });
    const client = connect(server.url);
    await expect(client.request("a/b")).resolves.toEqual({ method: "a/b" });
    await expect(client.request("a/moved")).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { status: 301, reason: "its location differs in the slash at the end of the path (one more)" },
    });
  });
});

describe("one's own fetch", () => {
  it("F-20: the client runs over it, and what it can't do is refused when the client is made", async () => {
    const server = await serve((method) => (method === "tools/list" ? { tools: [] } : { content: [] }));
    const { origin } = new URL(server.url);
    const asked: string[] = [];
    const exchange = createFetchExchange({
      origin,
      fetch: (url, init) => {
        asked.push(url);
        return fetch(url, init);
      },
    });
    const client = connect(server.url, { exchange });
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(asked).toEqual([server.url, server.url]);
    expect(() => connect(server.url, { exchange, proxy: "environment" })).toThrowError(
      expect.objectContaining({ code: "unsupported_by_exchange" }),
    );
  });
});
