import { connect, type InputHandlers, isRemoteConnectorError } from "remote-connector";
import { LegacySSEClient } from "remote-connector/legacy-client";
import { isLegacyRevision, type Revision } from "remote-connector/protocol";

/** Where a server is. */
export type Place =
  | { readonly kind: "http" | "sse"; readonly endpoint: string }
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>> | undefined;
    };

export interface Call {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: { readonly progress: number }) => void) | undefined;
}

/** What the clients of all transports have in common, as far as the columns use it. */
interface Client {
  readonly revision: Revision;
  listAllTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listAllResources(): Promise<{ readonly entries: readonly { readonly uri: string }[] }>;
  listAllPrompts(): Promise<{ readonly entries: readonly { readonly name: string }[] }>;
  callTool(call: Call, options?: CallOptions): Promise<object>;
  readResource(params: { readonly uri: string }): Promise<object>;
  close(): Promise<void>;
}

/** A client that is connected. */
export interface Subject {
  readonly client: Client;
  readonly era: "modern" | "legacy";
  /** What the server declares. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Resolves when the server is to tell of changes of the resource. */
  watch(uri: string): Promise<Watch>;
}

export interface Watch {
  /** Resolves with the next change. */
  next(): Promise<unknown>;
  close(): void;
}

const SHARED = {
  clientInfo: { name: "remote-connector-interop", version: "1.0.0" },
  lifecycleTimeoutMs: 10_000,
  totalTimeoutMs: 4_000,
};

const HANDLERS: InputHandlers = {
  elicitation: { form: () => ({ action: "accept", content: { name: "Ada" } }) },
};

/** Connects, with one revision alone when it is given. Takes no longer than both limits of {@link SHARED} together. */
export async function reach(place: Place, revision: Revision | undefined): Promise<Subject> {
  if (place.kind === "sse") return reachSse(place.endpoint, revision);
  const { kind: _kind, ...server } = place;
  const revisions = revision === undefined ? undefined : [revision];
  const client = await connect({ ...server, ...SHARED, handlers: HANDLERS, revisions });
  const { totalTimeoutMs } = SHARED;
  const discovered = await client.discover({ totalTimeoutMs }).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  return {
    client,
    era: client.era,
    capabilities: discovered.capabilities,
    async watch(uri) {
      const subscription = client.listen({ resourceSubscriptions: [uri] });
      const { resourceSubscriptions = [] } = await subscription.acknowledged;
      if (!resourceSubscriptions.includes(uri)) throw new Error(`${uri} was not acknowledged`);
      const changes = subscription[Symbol.asyncIterator]();
      return { next: () => changes.next().then(({ value }) => value?.params), close: () => subscription.close() };
    },
  };
}

/** `connect` does not look for HTTP+SSE: its client is used by itself. */
async function reachSse(endpoint: string, revision: Revision | undefined): Promise<Subject> {
  const changes: unknown[] = [];
  let wake = (): void => undefined;
  const client = await LegacySSEClient.connect({
    ...SHARED,
    endpoint,
    handlers: HANDLERS,
    ...(revision !== undefined && isLegacyRevision(revision) ? { revisions: [revision] } : {}),
    onNotification: ({ method, params }) => {
      if (method !== "notifications/resources/updated") return;
      changes.push(params);
      wake();
    },
  });
  return {
    client,
    era: "legacy",
    capabilities: client.capabilities,
    async watch(uri) {
      await client.subscribeResource({ uri });
      return {
        async next() {
          if (changes.length === 0) await new Promise<void>((resolve) => (wake = resolve));
          return changes.shift();
        },
        close: () => void client.unsubscribeResource({ uri }).catch(() => undefined),
      };
    },
  };
}

/** An error in a few words. */
export function wordsFor(error: unknown): string {
  if (!isRemoteConnectorError(error)) return error instanceof Error ? error.message : String(error);
  const cause = isRemoteConnectorError(error.cause) ? ` (cause: ${wordsFor(error.cause)})` : "";
  return `${error.code}, ${error.delivery}: ${error.message}${cause}`;
}
