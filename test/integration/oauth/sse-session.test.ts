import { afterEach, describe, expect, it } from "vitest";
import { LegacySSEClient } from "../../../src/index.js";
import { AuthorizationServer, likeSseServer, ProtectedServer } from "../../../src/testing/index.js";
import { startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const CALL = { name: "read", arguments: {} } as const;

describe("a server of HTTP+SSE behind OAuth", () => {
  it("A-8: what is posted carries the token of the stream's server, and is refreshed with it", async () => {
    const time = { now: 1_800_000_000_000 };
    const unixTime = (): number => time.now;
    const issuer = await AuthorizationServer.start({ allowsRegistration: true, unixTime });
    opened.push(issuer);
    const tools = likeSseServer({ tools: [{ name: "read" }], endpoint: "/mcp?stream={n}" });
    const server = await ProtectedServer.start(tools, { authorizationServers: [issuer], unixTime });
    opened.push(server);
    const program = startProgram(opened, { issuer, server, time });
    const client = await LegacySSEClient.connect({
      endpoint: server.url,
      clientInfo: { name: "test", version: "1" },
      authorize: program.oauth,
    });
    opened.push(client);
    await client.callTool(CALL);
    time.now += 7_200_000;
    await client.callTool(CALL);

    expect(program.visits).toHaveLength(1);
    expect(tokenRequests(issuer, "refresh_token")).toHaveLength(1);
    expect((await program.oauth.accounts(server.url)).length).toBe(1);
    const bare = server.accesses.filter(
      ({ authorization, outcome }) => authorization === undefined && outcome !== "metadata",
    );
    expect(bare.map(({ request }) => request.verb)).toEqual(["GET"]);
  });
});
