import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
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
