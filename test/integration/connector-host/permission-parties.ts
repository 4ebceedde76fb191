import { expect, onTestFinished } from "vitest";
import type { ConnectorHost } from "../../../src/connector-host/index.js";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import { type ConnectorCall, type ScriptedGateway, working } from "../../support/scripted-gateway.js";

/** What a connector of a gateway has, for tests to change. */
export interface Offer {
  /** Definitions without names, by name. */
  tools: Record<string, object>;
  prompts?: readonly string[];
  resources?: readonly string[];
  /** Set: where calls of tools wait to be answered. */
  held?: ConnectorCall[];
}

/** A connector with these tools; with prompts and resources, if there are any. */
export function offering(gateway: ScriptedGateway, connectorKey: string, offer: Offer): void {
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };
  gateway.script(connectorKey, (call) => {
    const complete = (members: object): void => call.result(JSON.stringify({ resultType: "complete", ...members }));
    const { prompts = [], resources = [], tools } = offer;
    const cached = { ttlMs: 0, cacheScope: "private" };
    const answers: Record<string, () => object> = {
      "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities }),
      "tools/list": () => ({
        tools: Object.entries(tools).map(([name, more]) => ({ name, inputSchema: { type: "object" }, ...more })),
      }),
      "prompts/list": () => ({ ...cached, prompts: prompts.map((name) => ({ name })) }),
      "prompts/get": () => ({ messages: [] }),
      "resources/list": () => ({ ...cached, resources: resources.map((uri) => ({ uri, name: uri })) }),
      "resources/templates/list": () => ({ ...cached, resourceTemplates: [] }),
      "resources/read": () => ({ ...cached, contents: [] }),
      "completion/complete": () => ({ completion: { values: [] } }),
    };
    const answer = answers[call.method];
    if (answer !== undefined) complete(answer());
    else if (offer.held === undefined) working(call);
    else offer.held.push(call);
  });
}

/** How often a connector was asked for a method; without one, how often at all. */
export function timesAsked({ calls }: ScriptedGateway, connectorKey: string, method?: string): number {
  return calls.filter((call) => call.connectorKey === connectorKey && (method ?? call.method) === call.method).length;
}

/** A refusal by the host, as agents are told it: nothing was sent. */
export function refusal(code: string, facts: object) {
  return { "sh.tutti/delivery": { delivery: "not_sent", code, ...facts } };
}

/** The same session of an agent that speaks 2025-06-18. */
export function legacyAgent(host: ConnectorHost, agentSessionId: string) {
  const { url, headers } = host.bind({ workspaceId: "w", agentSessionId });
  let id = 0;
  const send = async (method: string, params: object) => {
    id += 1;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    });
    const answer: { result?: Record<string, unknown>; error?: { code: number; data?: unknown } } = JSON.parse(
      await response.text(),
    );
    return answer;
  };
  return {
    async list(): Promise<readonly unknown[]> {
      const tools = (await send("tools/list", {})).result?.["tools"];
      return Array.isArray(tools) ? tools.map((tool: { name: unknown }) => tool.name) : [];
    },
    call: (name: string) => send("tools/call", { name, arguments: {} }),
  };
}

/** An agent that listens: how often it is told that its list is another. */
export async function listeningAgent(host: ConnectorHost, agentSessionId: string) {
  const { url: endpoint, headers } = host.bind({ workspaceId: "w", agentSessionId });
  const client = new ModernStreamableHTTPClient({ endpoint, headers, clientInfo: { name: "agent", version: "1" } });
  onTestFinished(() => client.close());
  const subscription = client.listen({ toolsListChanged: true });
  await subscription.acknowledged;
  let told = 0;
  void (async () => {
    for await (const _ of subscription) told += 1;
  })().catch(() => undefined);
  const names = async () => (await client.listAllTools()).tools.map(({ name }) => name);
  return {
    names,
    /** Waits until it is told, and gives it the list of now. */
    async next(): Promise<readonly string[]> {
      await expect.poll(() => told, { interval: 5, timeout: 5_000 }).toBeGreaterThan(0);
      told = 0;
      return names();
    },
    told: () => told,
  };
}
