import { onTestFinished } from "vitest";
import {
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "../../../src/legacy-client/index.js";
import type { Diagnostic } from "../../../src/protocol/index.js";
import { type Script, ScriptedServer, type ScriptedServerOptions } from "../../../src/testing/index.js";

/** A server that is verified and closed when the test is over. */
export async function serve(script: Script, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script, options);
  onTestFinished(async () => {
    await server.close();
    server.verify();
  });
  return server;
}

export interface HttpParty {
  readonly client: LegacyStreamableHTTPClient;
  /** What the client tolerated. */
  readonly diagnostics: Diagnostic[];
  readonly kinds: () => readonly string[];
}

/** A client that is closed when the test is over. */
export async function connectHttp(
  endpoint: string,
  options: Partial<LegacyStreamableHTTPClientOptions> = {},
): Promise<HttpParty> {
  const diagnostics: Diagnostic[] = [];
  const client = await LegacyStreamableHTTPClient.connect({
    endpoint,
    clientInfo: { name: "test", version: "1" },
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, diagnostics, kinds: () => diagnostics.map(({ kind }) => kind) };
}

/** What a promise is rejected with. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
