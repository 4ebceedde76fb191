import { once } from "node:events";
import { createServer } from "node:https";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf } from "../../support/raw-server.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

function client(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo: { name: "test", version: "1" }, ...options });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };

const ok = (id: number): Buffer => httpAnswer(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}`);

describe("what the exchange over undici alone can", () => {
  it.each(["end", "reset"])(
    "F-12: an idle connection that the server closed (%s) costs the next call nothing",
    async (how) => {
      const server = await serve((request) => {
        request.socket.write(ok(idOf(request)), () => {
          setTimeout(() => (how === "end" ? request.socket.end() : request.socket.resetAndDestroy()), 5);
        });
      });
      const made = client(server.url);
      for (let i = 0; i < 5; i += 1) {
        await expect(made.callTool(call, { contract })).resolves.toEqual({ content: [] });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(server.requests).toHaveLength(5);
    },
  );

  it.each([
    ["an address that is not allowed", "ERR_ADDRESS_REFUSED", { allowedAddresses: "public", allowInsecureHttp: true }],
    ["a certificate that is not trusted", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", {}],
  ] as const)("F-11: %s is not tried again, by reads or calls", async (_, reason, options) => {
    let connections = 0;
    const server = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY });
    server.on("connection", () => (connections += 1));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const made = client(`https://127.0.0.1:${String(port)}/mcp`, { ...options, random: () => 0 });
    const failure = {
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason, lasting: true, evidence: { attempts: 1 } },
    };
    await expect(made.discover()).rejects.toMatchObject(failure);
    await expect(made.callTool(call, { contract })).rejects.toMatchObject(failure);
    expect(connections).toBe(reason === "ERR_ADDRESS_REFUSED" ? 0 : 2);
  });

  it("F-8: a client that is closed while it connects leaves no socket", async () => {
    // It never speaks TLS: who connects so waits for the handshake.
    const server = await serve(() => undefined);
    const made = client(`https://127.0.0.1:${String(server.port)}/mcp`);
    const promise = made.callTool(call, { contract, connectTimeoutMs: 50 });
    await expect(promise).rejects.toMatchObject({
      code: "timeout",
      delivery: "not_sent",
      details: { phase: "connect" },
    });
    await made.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });
});
