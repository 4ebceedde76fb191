import { onTestFinished } from "vitest";
import { connect, type ConnectHttpOptions, type McpClient } from "../../../src/connect/index.js";
import { type AnyRemoteConnectorError, isRemoteConnectorError } from "../../../src/errors.js";
import type { Diagnostic } from "../../../src/protocol/index.js";
import { type Handler, ScriptedServer } from "../../../src/testing/index.js";

/** A server that answers everything by one handler, which can be another later. Closed when the test is over. */
export class ChangingServer {
  readonly #server: ScriptedServer;
  readonly #now: { handler: Handler };

  static async start(handler: Handler): Promise<ChangingServer> {
    const now = { handler };
    const server = await ScriptedServer.start((request) => now.handler(request));
    onTestFinished(() => server.close());
    return new ChangingServer(server, now);
  }

  private constructor(server: ScriptedServer, now: { handler: Handler }) {
    this.#server = server;
    this.#now = now;
  }

  get url(): string {
    return this.#server.url;
  }

  /** The JSON-RPC methods of the POSTs so far, and the verbs of all else. */
  get methods(): readonly string[] {
    return this.#server.requests.map(({ method, verb }) => method ?? verb);
  }

  /** Those of the POSTs alone. */
  get posted(): readonly string[] {
    return this.methods.filter((method) => method !== "GET" && method !== "DELETE");
  }

  get requests(): ScriptedServer["requests"] {
    return this.#server.requests;
  }

  become(handler: Handler): void {
    this.#now.handler = handler;
  }
}

export interface Party {
  readonly client: McpClient;
  readonly diagnostics: readonly Diagnostic[];
}

/** Connects; the client is closed when the test is over. */
export async function reach(endpoint: string, options: Partial<ConnectHttpOptions> = {}): Promise<Party> {
  const diagnostics: Diagnostic[] = [];
  const client = await connect({
    endpoint,
    clientInfo: { name: "test", version: "1" },
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, diagnostics };
}

/** The error that a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<AnyRemoteConnectorError> {
  try {
    await promise;
  } catch (error) {
    if (isRemoteConnectorError(error)) return error;
    throw error;
  }
  throw new Error("Nothing failed.");
}
