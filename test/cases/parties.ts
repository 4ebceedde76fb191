import { onTestFinished } from "vitest";
import { ModernStreamableHTTPClient, type ModernStreamableHTTPClientOptions } from "../../src/modern-client/index.js";
import type { Diagnostic } from "../../src/protocol/index.js";
import {
  type Answer,
  type Handler,
  type MessageTemplate,
  notificationMessage,
  type Script,
  ScriptedServer,
  type ScriptedServerOptions,
} from "../../src/testing/index.js";

/** A call of a tool whose arguments no header mirrors, so that nothing is listed before it. */
export const CALL = { name: "t" } as const;
export const PLAIN = { contract: { parameters: [] } } as const;
export const OK = { content: [{ type: "text", text: "ok" }] } as const;

/** A server that is verified and closed when the test is over. */
export async function serve(script: Script, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script, options);
  onTestFinished(async () => {
    await server.close();
    server.verify();
  });
  return server;
}

export interface Party {
  readonly client: ModernStreamableHTTPClient;
  /** What the client tolerated. */
  readonly diagnostics: Diagnostic[];
  readonly kinds: () => readonly string[];
}

/** A client that is closed when the test is over. */
export function connectTo(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}): Party {
  const diagnostics: Diagnostic[] = [];
  const client = new ModernStreamableHTTPClient({
    endpoint,
    clientInfo: { name: "cases", version: "1" },
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, diagnostics, kinds: () => diagnostics.map(({ kind }) => kind) };
}

/** Both sides: the server gives each request the next answer, and the last one again and again. */
export async function meet(
  answers: readonly [Answer | Handler, ...(Answer | Handler)[]],
  options: Partial<ModernStreamableHTTPClientOptions> = {},
): Promise<Party & { readonly server: ScriptedServer }> {
  let count = 0;
  const server = await serve((request) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    return typeof answer === "function" ? answer(request) : answer;
  });
  return { server, ...connectTo(server.url, options) };
}

/** What begins the subscription of the request `id`. */
export function acknowledgedMessage(id: unknown, notifications: object): MessageTemplate {
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  return notificationMessage("notifications/subscriptions/acknowledged", { notifications, _meta });
}

/** What a promise is rejected with. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
