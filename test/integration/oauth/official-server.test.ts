import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { connect, type McpClient } from "../../../src/index.js";
import { createOAuth, type OAuth } from "../../../src/oauth/index.js";
import { browse } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";
import { type OfficialParty, startModernParty, startSessionParty } from "./official-party.js";

const opened = new Opened();
afterEach(opened.close);

interface Conversation {
  readonly party: OfficialParty;
  readonly client: McpClient;
  readonly oauth: OAuth;
}

async function converse(starting: Promise<OfficialParty>): Promise<Conversation> {
  const party = await starting;
  opened.push(party);
  const oauth = createOAuth({ clientName: "test", openUrl: (url) => void browse(url) });
  opened.push(oauth);
  const client = await connect({
    endpoint: party.url,
    clientInfo: { name: "test", version: "1" },
    authorize: oauth,
  });
  opened.push(client);
  return { party, client, oauth };
}

/** How a call ended: what its result says, or the code of its error. */
async function call(client: McpClient, name: string): Promise<string> {
  try {
    return JSON.stringify((await client.callTool({ name, arguments: {} })).content);
  } catch (error) {
    return isRemoteConnectorError(error) ? error.code : String(error);
  }
}

const said = (text: string): string => JSON.stringify([{ type: "text", text }]);

describe("an authorization server and MCP servers of others", () => {
  it("A-5: signs in to the official server of 2025-11-25, refreshes, ends the session with the token, and revokes", async () => {
    const { client, oauth, party } = await converse(startSessionParty());
    const { provider, received, url } = party;
    expect(client.era).toBe("legacy");
    expect(await call(client, "read")).toBe(said("read"));
    expect(provider.clients.size).toBe(1);
    const [known] = provider.clients.values();
    expect(known).toMatchObject({
      client_name: "test",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
    expect(provider.visits).toHaveLength(1);
    expect(provider.asked).toEqual([{ grant: "code", resource: url, redirectUri: known?.redirect_uris[0] }]);

    provider.endAccessTokens();
    expect(await Promise.all([call(client, "read"), call(client, "read")])).toEqual([said("read"), said("read")]);
    provider.endAccessTokens();
    expect(await call(client, "read")).toBe(said("read"));
    expect(provider.asked.slice(1)).toEqual([
      { grant: "refresh", resource: url, redirectUri: undefined },
      { grant: "refresh", resource: url, redirectUri: undefined },
    ]);
    expect(provider.visits).toHaveLength(1);

    await client.close();
    expect(received.filter(([, hasToken]) => !hasToken)).toHaveLength(1);
    expect(received.at(-1)).toEqual(["DELETE", true]);
    expect(received).toContainEqual(["GET", true]);

    expect(await oauth.signOut(url)).toBe(true);
    expect(provider.revoked).toHaveLength(2);
    expect(await oauth.accounts(url)).toEqual([]);
  });

  it("A-8: signs in to the official server of 2026-07-28, and steps up once for the scope of a tool", async () => {
    const { client, oauth, party } = await converse(startModernParty());
    const { provider, received, url } = party;
    expect(client.era).toBe("modern");
    expect(await call(client, "read")).toBe(said("read"));
    expect(provider.visits.map(({ scopes }) => scopes)).toEqual([["read"]]);

    expect(await call(client, "write")).toBe(said("written"));
    expect(await call(client, "write")).toBe(said("written"));
    expect(provider.visits.map(({ scopes }) => scopes)).toEqual([["read"], ["read", "write"]]);
    expect(provider.clients.size).toBe(1);

    provider.endAccessTokens();
    expect(await call(client, "write")).toBe(said("written"));
    expect(provider.asked.map(({ grant, resource }) => [grant, resource])).toEqual([
      ["code", url],
      ["code", url],
      ["refresh", url],
    ]);
    expect(received.filter(([, hasToken]) => !hasToken)).toHaveLength(1);
    expect(await oauth.accounts(url)).toMatchObject([{ scopes: ["read", "write"], canRefresh: true }]);
  });
});
