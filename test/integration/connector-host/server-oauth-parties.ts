import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import {
  type ConnectorHost,
  openConnectorHost,
  type OpenConnectorHostOptions,
} from "../../../src/connector-host/index.js";
import type { OAuth, OAuthOptions } from "../../../src/oauth/index.js";
import { likeLegacyServer, ProtectedServer } from "../../../src/testing/index.js";
import {
  type OAuthWorld,
  openWorld,
  type Program,
  startProgram,
  type WorldOptions,
} from "../../support/oauth-world.js";
import type { Opened } from "../../support/opened.js";

/** A host whose only server wants OAuth. */
export interface ServerParty extends Program {
  readonly world: OAuthWorld;
  readonly host: ConnectorHost;
}

export const TOOLS = [{ name: "read" }, { name: "write" }];

/** A declared registration of a server, active, with every tool allowed. */
export function declared(endpoint: string, settings: object = {}, slug = "docs"): object {
  return { slug, displayName: "Docs", settings: { endpoint, ...settings } };
}

export async function stateFolder(opened: Opened): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "server-oauth-"));
  opened.push({ close: () => rm(path, { recursive: true, force: true }) });
  return path;
}

/** The world of an era. */
export async function worldOf(opened: Opened, era: "modern" | "legacy", options: WorldOptions = {}) {
  const world = await openWorld(opened, options);
  if (era === "modern") return world;
  const handler = likeLegacyServer({ tools: TOOLS, sessionId: "s" });
  const { issuer, time } = world;
  const protection = { authorizationServers: [issuer], unixTime: () => time.now, ...options.server };
  const server = await ProtectedServer.start(handler, protection);
  opened.push(server);
  return { ...world, server };
}

export async function openHost(
  opened: Opened,
  oauth: OAuth | undefined,
  options: Partial<OpenConnectorHostOptions> = {},
): Promise<ConnectorHost> {
  const host = await openConnectorHost({
    hostInfo: { name: "desk", version: "1.0.0" },
    stateDirectory: await stateFolder(opened),
    agentSocket: false,
    oauth,
    ...options,
  });
  opened.push(host);
  return host;
}

/** A host of a world with one registration of its server. */
export async function serverParty(
  opened: Opened,
  world: OAuthWorld,
  options: Partial<OpenConnectorHostOptions> = {},
  oauthOptions: Partial<OAuthOptions> = {},
): Promise<ServerParty> {
  const program = startProgram(opened, world, oauthOptions);
  const host = await openHost(opened, program.oauth, { registrations: [declared(world.server.url)], ...options });
  return { ...program, world, host };
}

/** What each connector is at. */
export async function statesOf(host: ConnectorHost): Promise<Record<string, string>> {
  return Object.fromEntries((await host.status()).map(({ connectorKey, state }) => [connectorKey, state]));
}

export async function becomes(host: ConnectorHost, states: Record<string, string>): Promise<void> {
  await expect.poll(() => statesOf(host), { timeout: 10_000, interval: 5 }).toEqual(states);
}
