import { type Implementation, isLegacyRevision, type LegacyRevision, type Revision } from "remote-connector/protocol";
import type { Call, Place } from "../interop/subject.js";

/** A client, as far as a conversation needs it. */
interface Client {
  readonly revision: string;
  listAllTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: Call, options?: CallOptions): Promise<object>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly onProgress?: ((progress: object) => void) | undefined;
}

interface Shared {
  readonly clientInfo: Implementation;
  readonly handlers?: Handlers | undefined;
  readonly revisions?: readonly Revision[] | undefined;
}

interface Handlers {
  readonly elicitation: {
    readonly form: () => { readonly action: "accept"; readonly content: Readonly<Record<string, string>> };
  };
}

/** The package, whether as it is built or as its source is. */
export interface Clients {
  connect(
    options: Shared & ({ readonly endpoint: string } | { readonly command: string; readonly args: readonly string[] }),
  ): Promise<Client>;
  /** For HTTP+SSE. */
  connectSse(
    options: Omit<Shared, "revisions"> & {
      readonly endpoint: string;
      readonly revisions?: readonly LegacyRevision[] | undefined;
    },
  ): Promise<Client>;
}

/** What is called: one call with progress, one that fails, and maybe one on whose way the server asks for a name. */
export interface Script {
  readonly long: Call;
  readonly wrong: Call;
  readonly asking?: Call | undefined;
}

const HANDLERS: Handlers = { elicitation: { form: () => ({ action: "accept", content: { name: "Ada" } }) } };

const clientInfo: Implementation = { name: "remote-connector-transcripts", version: "1.0.0" };

/** Connects, lists, calls, is refused, and closes. Resolves with what the caller saw of it. */
export async function converse(
  clients: Clients,
  place: Place,
  told: Revision | null,
  { long, wrong, asking }: Script,
): Promise<readonly unknown[]> {
  const client = await open(clients, place, told, asking === undefined ? {} : { handlers: HANDLERS });
  const progress: object[] = [];
  const outcomes: unknown[] = [
    { revision: client.revision },
    { tools: (await client.listAllTools()).tools.map(({ name }) => name) },
    { result: await client.callTool(long, { onProgress: (step) => progress.push(step) }), progress },
    await client.callTool(wrong).then((result) => ({ result }), failure),
  ];
  if (asking !== undefined) outcomes.push({ result: await client.callTool(asking) });
  await client.close();
  return outcomes;
}

function open(
  clients: Clients,
  place: Place,
  told: Revision | null,
  handlers: Pick<Shared, "handlers">,
): Promise<Client> {
  const revisions = told === null ? undefined : [told];
  const { kind, ...server } = place;
  const shared = { clientInfo, ...handlers };
  if (kind !== "sse") return clients.connect({ ...server, ...shared, revisions });
  return clients.connectSse({ endpoint: place.endpoint, ...shared, revisions: revisions?.filter(isLegacyRevision) });
}

/** What a caller decides by. Times are left out, which are never the same. */
function failure(error: unknown): object {
  const { code, delivery, details } = Object(error);
  const { evidence: _evidence, ...others } = Object(details);
  return { code, delivery, details: others };
}
