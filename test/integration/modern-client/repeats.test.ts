import { describe, expect, it } from "vitest";
import { RawJson } from "../../../src/protocol/index.js";
import { httpAnswer } from "../../support/raw-server.js";
import { bodies, connect, rpcError, serve } from "./support.js";
import { connect as connectStdio } from "./stdio-servers.js";

const DONE = { content: [] };
const CLOSED = "http://127.0.0.1:9/mcp";

describe("repeats: never", () => {
  it.each([
    ["safe", 2],
    ["never", 1],
  ] as const)("F-11 H-33: a call that found no connection, %s", async (repeats, attempts) => {
    let asked = 0;
    const authorize = (): Record<string, string> => {
      asked += 1;
      return {};
    };
    const client = connect(CLOSED, { authorize });
    const called = client.callTool({ name: "t" }, { repeats, contract: { parameters: [] } });
    await expect(called).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(asked).toBe(attempts);
  });

  it.each([
    ["safe", 2],
    ["never", 1],
  ] as const)("W-28 H-33: a refused version, %s", async (repeats, sent) => {
    const server = await serve((_method, request) => rpcError(request, -32022, 400, { supported: ["2026-07-28"] }));
    await expect(connect(server.url).discover({ repeats })).rejects.toMatchObject({ details: { rpcCode: -32022 } });
    expect(server.requests).toHaveLength(sent);
  });

  it("W-24 H-33: refused headers; the list that would correct them is not asked for", async () => {
    const server = await serve((_method, request) => rpcError(request, -32020));
    const options = { repeats: "never", contract: { version: 1, parameters: [] } } as const;
    await expect(connect(server.url).callTool({ name: "t" }, options)).rejects.toMatchObject({
      details: { rpcCode: -32020 },
    });
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/call"]);
  });

  it.each([
    ["safe", 3],
    ["never", 1],
  ] as const)("F-11: a read whose failure may pass, %s", async (repeats, sent) => {
    const server = await serve(() => httpAnswer("", { status: 503 }));
    const client = connect(server.url, { random: () => 0 });
    await expect(client.listTools({}, { repeats })).rejects.toMatchObject({ code: "unexpected_answer" });
    expect(server.requests).toHaveLength(sent);
  });

  it.each([
    ["safe", 4, "more than 3 redirects in a row"],
    ["never", 1, "no redirect is followed"],
  ] as const)("F-14 H-33: a redirect that could be followed, %s", async (repeats, sent, reason) => {
    const server = await serve(() => httpAnswer("", { status: 307, headers: "Location: /mcp?again\r\n" }));
    const called = connect(server.url).callTool({ name: "t" }, { repeats, contract: { parameters: [] } });
    await expect(called).rejects.toMatchObject({ code: "redirect_refused", delivery: "answered", details: { reason } });
    expect(server.requests).toHaveLength(sent);
  });

  it("W-33: the rounds in which handlers answer are no repetitions", async () => {
    const asks = { resultType: "input_required", inputRequests: { where: { method: "roots/list" } } };
    const results: object[] = [asks, DONE];
    const server = await serve((method) => (method === "tools/list" ? { tools: [] } : results.shift()));
    const client = connect(server.url, { handlers: { roots: () => [] } });
    await expect(client.callTool({ name: "t" }, { repeats: "never" })).resolves.toEqual(DONE);
  });

  it("is refused when it is another word", async () => {
    const odd = JSON.parse('{"repeats":"once"}');
    await expect(connect(CLOSED).discover(odd)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "repeats" },
    });
  });
});

/** What no encoder of ours would write. */
const RAW =
  '{ "resultType":"input_required","inputRequests" : {"k":{"method":"roots/list"}},"big":12345678901234567890}';
const METHODS = ["tools/call", "prompts/get", "resources/read"] as const;
const RESPONSES = '{"k" : {"roots":[],"n":12345678901234567890}}';

type Client = ReturnType<typeof connect> | ReturnType<typeof connectStdio>["client"];

function make(client: Client, method: (typeof METHODS)[number], inputResponses?: RawJson) {
  const options = { detail: true, input: "return", inputResponses, requestState: inputResponses && "" } as const;
  if (method === "tools/call") return client.callTool({ name: "t" }, options);
  if (method === "prompts/get") return client.getPrompt({ name: "p" }, options);
  return client.readResource({ uri: "file:///r" }, options);
}

describe.each(METHODS)("a result of %s that asks, by hand", (method) => {
  it("W-33 W-45: over HTTP is given byte for byte, and answered by RawJson byte for byte", async () => {
    const server = await serve((asked, { body }) => {
      if (asked === "tools/list") return { tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema: {} }] };
      const { id }: { id: number } = JSON.parse(body);
      return httpAnswer(`{"jsonrpc":"2.0","id":${String(id)},"result":${RAW}}`);
    });
    const client = connect(server.url);
    await client.listAllTools();
    const first = await make(client, method);
    expect([Buffer.from(first.raw).toString(), first.delivery]).toEqual([RAW, "answered"]);
    await make(client, method, new RawJson(RESPONSES));
    const body = server.requests.at(-1)?.body ?? "";
    expect(body).toContain(`"inputResponses":${RESPONSES},"requestState":""`);
    expect(server.requests).toHaveLength(3);
  });

  it("W-33 W-40 W-45: over stdio, too", async () => {
    const { client, last } = stdioServer();
    const first = await make(client, method);
    expect(Buffer.from(first.raw).toString()).toBe(RAW);
    await make(client, method, new RawJson(RESPONSES));
    expect(await last()).toContain(`"inputResponses":${RESPONSES},"requestState":""`);
  });
});

it("W-33: RawJson that is no object is refused", async () => {
  const client = connect(CLOSED);
  const odd = { inputResponses: new RawJson("[1]") };
  await expect(client.callTool({ name: "t" }, odd)).rejects.toMatchObject({
    code: "invalid_argument",
    details: { argument: "inputResponses" },
  });
});

/** A server on stdio that asks whoever wants anything of it, and tells the line before the one that asks for it. */
function stdioServer() {
  const program = `
    let before = "";
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const known = {
        "server/discover": ${JSON.stringify('{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}')},
        "tools/list": ${JSON.stringify('{"tools":[]}')},
        "x/last": JSON.stringify({ before }),
      };
      before = line;
      const result = known[method] ?? ${JSON.stringify(RAW)};
      if (id !== undefined) process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + "}\\n");
    });
  `;
  const { client } = connectStdio({
    command: process.execPath,
    args: ["-e", program],
    clientInfo: { name: "test", version: "1" },
  });
  return { client, last: async () => (await client.request("x/last"))["before"] };
}
