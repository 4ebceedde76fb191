import { createServer } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import type { Gateway, GatewayOptions } from "../../../src/gateway/index.js";
import {
  Cleanup,
  httpConnector,
  post,
  raw,
  type Received,
  startGateway,
  startUpstream,
  stdioConnector,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const echo = { connectorId: "c", method: "tools/call", params: { name: "echo" } };

/** A gateway whose upstream answers calls, and nothing else, as the test says. */
async function inFrontOf(answer: (call: Received) => unknown, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const upstream = await startUpstream(cleanup, (request) =>
    request.method === "tools/call" ? answer(request) : undefined,
  );
  return startGateway(cleanup, [httpConnector("c", upstream.url)], options);
}

async function failureOf(answer: Response): Promise<[number, unknown]> {
  const body: unknown = await answer.json();
  return [answer.status, Reflect.get(Object(body), "error")];
}

describe("an upstream that fails", () => {
  it("C-5: -33003 when nobody listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    server.close();
    await once(server, "close");
    const gateway = await startGateway(cleanup, [httpConnector("c", `http://127.0.0.1:${String(port)}/mcp`)]);
    expect(await failureOf(await post(gateway, echo))).toMatchObject([
      503,
      { code: -33003, data: { reason: "connect_failed", delivery: "not_sent" } },
    ]);
  });

  it("C-5: -33003 when it cuts the connection, and says that it may have acted", async () => {
    const gateway = await inFrontOf(({ response }) => {
      response.destroy();
      return true;
    });
    expect(await failureOf(await post(gateway, echo))).toMatchObject([
      503,
      { code: -33003, data: { delivery: "unknown" } },
    ]);
  });

  it("C-5: -33004 when a deadline passes", async () => {
    const gateway = await inFrontOf(({ closed }) => closed, { upstreamDeadlines: { idleTimeoutMs: 60 } });
    expect(await failureOf(await post(gateway, echo))).toMatchObject([
      504,
      { code: -33004, data: { reason: "timeout", phase: "idle", limitMs: 60, delivery: "unknown" } },
    ]);
  });

  it("F-4: -33005 for 429, with what Retry-After said, in both forms", async () => {
    const gateway = await inFrontOf(({ response }) =>
      raw(response, 429, "text/plain", "slow down", { "Retry-After": "7" }),
    );
    const answer = await post(gateway, echo);
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(await failureOf(answer)).toMatchObject([
      429,
      { code: -33005, data: { retryAfterMs: 7_000, delivery: "answered" } },
    ]);
  });

  it.each([
    ["text that is no JSON", 200, "application/json", "<html>"],
    ["another media type", 200, "text/html", "<p>hi</p>"],
    ["a body without a result", 200, "application/json", '{"jsonrpc":"2.0","id":1}'],
    ["a status that says nothing", 418, "text/plain", "teapot"],
    [
      "a refusal of its own hop",
      400,
      "application/json",
      '{"jsonrpc":"2.0","error":{"code":-32022,"message":"?","data":{"supported":[]}}}',
    ],
    [
      "a claim that the account is not authorized",
      428,
      "application/json",
      '{"jsonrpc":"2.0","error":{"code":-33001,"message":"?"}}',
    ],
  ])("C-5: -33006 for %s", async (_what, status, type, body) => {
    const gateway = await inFrontOf(({ response }) => raw(response, status, type, body));
    expect(await failureOf(await post(gateway, echo))).toMatchObject([502, { code: -33006 }]);
  });

  it("C-5: -33003 for a program that can't be started, or exits at once", async () => {
    const gateway = await startGateway(cleanup, [
      { ...stdioConnector("c", []), upstream: { kind: "stdio", command: "/no/such/program" } },
      stdioConnector("d", ["-e", "process.exit(3)"]),
    ]);
    expect(await failureOf(await post(gateway, echo))).toMatchObject([
      503,
      { code: -33003, data: { reason: "spawn_failed" } },
    ]);
    expect(await failureOf(await post(gateway, { ...echo, connectorId: "d" }))).toMatchObject([
      503,
      { code: -33003, data: { reason: "process_exited" } },
    ]);
  });

  it("C-5: a program that exits in a call fails that call, and the next one starts it again", async () => {
    const program = [
      "const { createInterface } = require('node:readline');",
      "const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');",
      "createInterface({ input: process.stdin }).on('line', (line) => {",
      "  const { id, method, params } = JSON.parse(line);",
      "  if (method === 'initialize') say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });",
      "  if (method === 'tools/list') say(id, { tools: [] });",
      "  if (method === 'tools/call' && params.name === 'die') process.exit(1);",
      "  if (method === 'tools/call' && params.name === 'pid') say(id, { content: [], pid: process.pid });",
      "});",
    ];
    const gateway = await startGateway(cleanup, [stdioConnector("c", ["-e", program.join("\n")])]);
    const pidOf = async (cookie: string): Promise<unknown> => {
      const answer = await post(gateway, { ...echo, params: { name: "pid" }, headers: { Cookie: cookie } });
      const body: unknown = await answer.json();
      return Reflect.get(Object(Reflect.get(Object(body), "result")), "pid");
    };
    const [first, other] = [await pidOf("session=s-ada"), await pidOf("session=s-bob")];
    expect(other).not.toBe(first);
    expect(await pidOf("session=s-ada")).toBe(first);
    const died = await failureOf(await post(gateway, { ...echo, params: { name: "die" } }));
    expect(died).toMatchObject([503, { code: -33003, data: { reason: "process_exited", delivery: "unknown" } }]);
    const second = await pidOf("session=s-ada");
    expect(second).toEqual(expect.any(Number));
    expect(second).not.toBe(first);
    expect(await pidOf("session=s-bob")).toBe(other);
  });
});
