import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { AgentKind } from "./agent-kind.js";

/** How an agent reaches the host. */
export interface Access {
  readonly http: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly stdio: { readonly command: string; readonly args: readonly string[] };
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** A client that is connected to the host, whoever wrote it. */
export interface Agent {
  readonly revision: string | undefined;
  listTools(): Promise<readonly string[]>;
  listPrompts(): Promise<readonly string[]>;
  listResources(): Promise<readonly string[]>;
  callTool(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<object>;
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<object>;
  readResource(uri: string): Promise<object>;
  /** Resolves when the host will tell of changes of the resource. */
  watch(uri: string, onUpdate: (uri: string) => void): Promise<void>;
  close(): Promise<void>;
}

const INFO = { name: "interop-agent", version: "1.0.0" };
/** What every agent can be asked, and answers. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const FILLED_IN = { action: "accept" as const, content: { name: "Ada" } };
const VISITED = { action: "accept" as const };
const SAMPLED = { role: "assistant" as const, content: { type: "text" as const, text: "four" }, model: "none" };
const ROOTS = { roots: [{ uri: "file:///of-the-agent", name: "of the agent" }] };

export async function connectAgent(kind: AgentKind, access: Access): Promise<Agent> {
  return kind.client === "client" ? connectNewer(kind, access) : connectOlder(kind, access);
}

/** The client of both eras. */
async function connectNewer({ revision, transport }: AgentKind, { http, stdio }: Access): Promise<Agent> {
  const isModern = revision === "2026-07-28";
  const versionNegotiation = { mode: isModern ? { pin: revision } : ("legacy" as const) };
  const client = new ModernClient(INFO, { versionNegotiation, capabilities: CAPABILITIES });
  client.setRequestHandler("elicitation/create", ({ params }) => (params.mode === "url" ? VISITED : FILLED_IN));
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("roots/list", () => ROOTS);
  const requestInit = { headers: { ...http.headers } };
  await client.connect(
    transport === "HTTP"
      ? new ModernHttp(new URL(http.url), { requestInit })
      : new ModernStdio({ command: stdio.command, args: [...stdio.args] }),
  );
  return {
    ...common(client),
    revision: client.getNegotiatedProtocolVersion(),
    callTool: (name, args, options) => client.callTool({ name, arguments: { ...args } }, options),
    async watch(uri, onUpdate) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => onUpdate(params.uri));
      if (isModern) await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
  };
}

/** The client of the older SDK. */
async function connectOlder({ transport }: AgentKind, { http, stdio }: Access): Promise<Agent> {
  const client = new OlderClient(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => (params.mode === "url" ? VISITED : FILLED_IN));
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  const requestInit = { headers: { ...http.headers } };
  const overHttp: unknown = new OlderHttp(new URL(http.url), { requestInit });
  const overStdio = new OlderStdio({ command: stdio.command, args: [...stdio.args] });
  const chosen = transport === "HTTP" ? overHttp : overStdio;
  if (!isTransport(chosen)) throw new Error("that is no transport");
  await client.connect(chosen);
  return {
    ...common(client),
    revision: "2025-11-25",
    callTool: (name, args, options) => client.callTool({ name, arguments: { ...args } }, undefined, options),
    async watch(uri, onUpdate) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdate(params.uri));
      await client.subscribeResource({ uri });
    },
  };
}

/** The type of its own transport says that the session's id may be undefined, which exact optional types don't let pass. */
function isTransport(value: unknown): value is Transport {
  return typeof value === "object" && value !== null && "start" in value && "send" in value;
}

interface Listing {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  getPrompt(params: { readonly name: string; readonly arguments: Record<string, string> }): Promise<object>;
  readResource(params: { readonly uri: string }): Promise<object>;
  close(): Promise<void>;
}

function common(client: Listing) {
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    getPrompt: (name: string, args: Readonly<Record<string, string>>) =>
      client.getPrompt({ name, arguments: { ...args } }),
    readResource: (uri: string) => client.readResource({ uri }),
    close: () => client.close(),
  };
}
