import nock from "nock";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import {
  createFetchExchange,
  HttpEndpoint,
  httpGet,
  parseEndpoint,
  resolveTransportOptions,
} from "../../../src/transport/index.js";

const ORIGIN = "https://mcp.example.test";

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  expect(nock.pendingMocks()).toEqual([]);
  nock.cleanAll();
});
afterAll(() => nock.restore());

function client(): ModernStreamableHTTPClient {
  return new ModernStreamableHTTPClient({
    endpoint: `${ORIGIN}/mcp?tenant=1`,
    clientInfo: { name: "test", version: "1" },
    headers: { "X-Mine": "1" },
    authorize: () => ({ Authorization: "Bearer token" }),
    exchange: createFetchExchange({ origin: ORIGIN }),
  });
}

describe("requests over fetch, as nock sees them", () => {
  it("F-20, W-1: a call has its method, path, headers and body, and its JSON answer is the result", async () => {
    let body: unknown;
    nock(ORIGIN, {
      reqheaders: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "t",
        "x-mine": "1",
        authorization: "Bearer token",
        "accept-encoding": "identity",
      },
    })
      .post("/mcp?tenant=1", (sent: unknown) => {
        body = sent;
        return true;
      })
      .reply(200, { jsonrpc: "2.0", id: 1, result: { content: [] } }, { "Content-Type": "application/json" });
    const made = client();
    await expect(made.callTool({ name: "t", arguments: { a: 0 } }, { contract: { parameters: [] } })).resolves.toEqual({
      content: [],
    });
    await made.close();
    expect(body).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "t", arguments: { a: 0 } },
    });
  });

  it("F-20, W-14: a stream is read event by event", async () => {
    const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
    nock(ORIGIN)
      .post("/mcp?tenant=1")
      .reply(
        200,
        event({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } }) +
          event({ id: 1, result: { content: [] } }),
        { "Content-Type": "text/event-stream" },
      );
    const seen: number[] = [];
    const made = client();
    const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await made.callTool({ name: "t" }, { contract: { parameters: [] }, onProgress });
    await made.close();
    expect(seen).toEqual([1]);
  });

  it("F-20: a read has its Accept, and no body", async () => {
    nock(ORIGIN, { reqheaders: { accept: "application/json" } })
      .get("/snapshot")
      .reply(404, "no", { "Content-Type": "text/plain" });
    const config = resolveTransportOptions({ exchange: createFetchExchange({ origin: ORIGIN }) });
    const endpoint = new HttpEndpoint(parseEndpoint(`${ORIGIN}/snapshot`, config), config, undefined);
    const { status, body } = await httpGet(endpoint);
    await endpoint.close();
    expect([status, Buffer.from(body).toString()]).toEqual([404, "no"]);
  });
});
