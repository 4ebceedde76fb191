import { describe, expect, it } from "vitest";
import { likeLegacyServer } from "../../../src/testing/index.js";
import { connectHttp, serve } from "./http-parties.js";

const TOOLS = [{ name: "echo" }];

describe("LegacyStreamableHTTPClient", () => {
  it("L-1, L-2: the handshake is bare, and all that follows is bound to revision and session", async () => {
    const server = await serve(likeLegacyServer({ revision: "2025-06-18", sessionId: "s-1", tools: TOOLS }));
    const { client } = await connectHttp(server.url);
    expect(client.revision).toBe("2025-06-18");
    await client.callTool({ name: "echo", arguments: { a: 1 } });
    await client.close();
    const [initialize, initialized, call, ended] = server.requests;
    expect(initialize?.params).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    expect([initialize?.header("mcp-session-id"), initialize?.header("mcp-protocol-version")]).toEqual([
      undefined,
      undefined,
    ]);
    expect([initialized?.method, call?.method, ended?.verb]).toEqual([
      "notifications/initialized",
      "tools/call",
      "DELETE",
    ]);
    for (const later of [initialized, call, ended]) {
      expect([later?.header("mcp-session-id"), later?.header("mcp-protocol-version")]).toEqual(["s-1", "2025-06-18"]);
    }
    expect(server.requests).toHaveLength(4);
  });
});
