import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { ConnectorHost, type ConnectorHostOptions, type HostStore } from "../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { RawAgent } from "../../support/agent.js";
import { Opened } from "../../support/opened.js";
import { releaseOf } from "../../support/releases.js";
import { type ConnectorCall, ScriptedGateway, working } from "../../support/scripted-gateway.js";

/** A host, and what is published of it from now on. */
export interface HostParty {
  readonly host: ConnectorHost;
  /** `kind key@generation`, in order. */
  readonly published: string[];
}

/** The gateways, hosts and folders of one file's tests. */
export class HostParties {
  readonly opened = new Opened();

  async gateway(connectors: Record<string, number> = {}): Promise<ScriptedGateway> {
    const gateway = await ScriptedGateway.start();
    this.opened.push(gateway);
    gateway.connect(1, connectors);
    return gateway;
  }

  /** A folder of its own, which goes with the rest. */
  async folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "host-parties-"));
    this.opened.push({ close: () => rm(path, { recursive: true, force: true }) });
    return path;
  }

  /** A host on which nobody is signed in. */
  async host(
    gateway: { readonly url: string },
    keys: readonly string[],
    options: Partial<ConnectorHostOptions> = {},
    store: HostStore = createMemoryStore(),
  ): Promise<HostParty> {
    const host = await ConnectorHost.start(
      {
        baseUrl: gateway.url,
        releases: keys.map((key) => releaseOf(key)),
        accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
        hostInfo: { name: "test", version: "1.0.0" },
        hintsUrl: false,
        ...options,
      },
      store,
    );
    this.opened.push(host);
    const published: string[] = [];
    host.onPublication(({ kind, connectorKey, generation }) =>
      published.push(`${kind} ${connectorKey}@${String(generation)}`),
    );
    return { host, published };
  }
}

/** The kinds of what was published, without generations. */
export function kindsOf(published: readonly string[]): string[] {
  return published.map((event) => event.replace(/@.*$/, ""));
}

/** The generations of what was published, in order. */
export function generationsOf(published: readonly string[]): number[] {
  return published.map((event) => Number(event.replace(/^.*@/, "")));
}

export function agentOf(host: ConnectorHost, agentSessionId = "s"): RawAgent {
  return new RawAgent(host.bind({ workspaceId: "w", agentSessionId }));
}

/** What each connector is at: the reason where there is one, else the state. */
export async function statesOf(host: ConnectorHost): Promise<Record<string, string>> {
  const all = await host.status();
  return Object.fromEntries(all.map(({ connectorKey, state, reason }) => [connectorKey, reason ?? state]));
}

export async function becomes(host: ConnectorHost, states: Record<string, string>): Promise<void> {
  await expect.poll(() => statesOf(host), { timeout: 10_000, interval: 10 }).toEqual(states);
}

/** A connector whose calls of one method wait to be answered; everything else it answers. */
export function holding(gateway: ScriptedGateway, connectorKey: string, method: string): ConnectorCall[] {
  const held: ConnectorCall[] = [];
  gateway.script(connectorKey, (call) => {
    if (call.method === method) held.push(call);
    else working(call);
  });
  return held;
}

/** Waits until a list has so many items. */
export async function arrived(items: { readonly length: number }, count = 1): Promise<void> {
  await expect.poll(() => items.length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(count);
}
