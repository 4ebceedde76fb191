import { isRemoteConnectorError } from "../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../src/index.js";
import { createOAuth, type OAuth, type OAuthEvent, type OAuthOptions } from "../../src/oauth/index.js";
import {
  AuthorizationServer,
  type AuthorizationServerOptions,
  likeModernServer,
  ProtectedServer,
  type ProtectedServerOptions,
} from "../../src/testing/index.js";
import type { Authorizer } from "../../src/transport/index.js";
import type { Opened } from "./opened.js";

/** An MCP server behind OAuth, and its authorization server. */
export interface OAuthWorld {
  readonly issuer: AuthorizationServer;
  readonly server: ProtectedServer;
  /** Time as all of them see it, in Unix milliseconds: it stands still until it is moved. */
  readonly time: { now: number };
}

export interface WorldOptions {
  readonly issuer?: AuthorizationServerOptions | undefined;
  readonly server?: ProtectedServerOptions | undefined;
}

/** Starts both. Clients may register themselves. */
export async function openWorld(opened: Opened, options: WorldOptions = {}): Promise<OAuthWorld> {
  const time = { now: 1_800_000_000_000 };
  const unixTime = (): number => time.now;
  const issuer = await AuthorizationServer.start({ allowsRegistration: true, unixTime, ...options.issuer });
  opened.push(issuer);
  const tools = likeModernServer({ tools: [{ name: "read" }, { name: "write" }] });
  const server = await ProtectedServer.start(tools, { authorizationServers: [issuer], unixTime, ...options.server });
  opened.push(server);
  return { issuer, server, time };
}

/** A program that signs people in: a browser that does what it is sent to. */
export interface Program {
  readonly oauth: OAuth;
  /** Where the browser was sent. */
  readonly visits: string[];
  readonly events: OAuthEvent[];
}

/** Its options are over those that a test needs. */
export function startProgram(opened: Opened, { time }: OAuthWorld, options: Partial<OAuthOptions> = {}): Program {
  const visits: string[] = [];
  const events: OAuthEvent[] = [];
  const oauth = createOAuth({
    clientName: "test",
    wallNow: () => time.now,
    onEvent: (event) => events.push(event),
    openUrl: (url) => {
      visits.push(url);
      void browse(url);
    },
    ...options,
  });
  opened.push(oauth);
  return { oauth, visits, events };
}

/** Follows redirects as a browser does. */
export async function browse(url: string): Promise<string> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.url ?? "";
}

/** Where an authorization server sends a browser back to, without going there. */
export async function callbackOf(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: "manual" });
  return answer.headers.get("location") ?? "";
}

/** A client, which calls in one request. */
export function openClient(opened: Opened, server: ProtectedServer, authorize: Authorizer): ModernStreamableHTTPClient {
  const client = new ModernStreamableHTTPClient({
    endpoint: server.url,
    clientInfo: { name: "test", version: "1" },
    unknownTools: "call",
    authorize,
  });
  opened.push(client);
  return client;
}

/** How a call ended: what it called, or the code of its error. */
export async function call(client: ModernStreamableHTTPClient, name = "read", signal?: AbortSignal): Promise<string> {
  try {
    await client.callTool({ name, arguments: {} }, { signal });
    return name;
  } catch (error) {
    return isRemoteConnectorError(error) ? error.code : String(error);
  }
}

/** Token requests of a grant type, in order. */
export function tokenRequests(
  issuer: AuthorizationServer,
  grantType: string,
): readonly Readonly<Record<string, string>>[] {
  return issuer.requests
    .filter(({ endpoint, parameters }) => endpoint === "token" && parameters["grant_type"] === grantType)
    .map(({ parameters }) => parameters);
}
