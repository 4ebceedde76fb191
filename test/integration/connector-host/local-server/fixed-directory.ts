import { RemoteConnectorError } from "../../../../src/errors.js";
import type {
  Binding,
  ForwardedRequest,
  OmittedConnector,
  ResolvedTool,
  UpstreamAnswer,
  ToolCall,
  ToolDirectory,
  ToolListing,
} from "../../../../src/connector-host/local-server/index.js";
import { EMPTY_CONTRACT, readToolContract } from "../../../../src/protocol/index.js";
import type { FixedCompletions, FixedPrompts, FixedResources } from "./fixed-offers.js";

/** What a fixed tool does when it is called. */
export type Run = (call: ToolCall, binding: Binding) => Promise<UpstreamAnswer>;

interface FixedTool extends ResolvedTool {
  readonly definition: string;
  readonly run: Run;
}

/** A directory of tools that a test lays down. It is what a host is to the local server, without any connector. */
export class FixedDirectory implements ToolDirectory {
  readonly #tools = new Map<string, FixedTool>();
  omitted: OmittedConnector[] = [];
  /** Set to make `list` reject. */
  listError: unknown;
  /** Set to make `resolve` reject. */
  resolveError: unknown;
  prompts?: FixedPrompts;
  resources?: FixedResources;
  complete?: FixedCompletions;
  /** Every call that was begun, in order. */
  readonly calls: { readonly name: string; readonly call: ToolCall; readonly binding: Binding }[] = [];

  add(name: string, run: Run, more: { inputSchema?: object; definition?: string } = {}): this {
    const inputSchema = { type: "object", ...more.inputSchema };
    const verdict = readToolContract(inputSchema);
    const contract = verdict.kind === "valid" ? verdict.contract : EMPTY_CONTRACT;
    const definition = more.definition ?? JSON.stringify({ name, description: `The tool ${name}`, inputSchema });
    this.#tools.set(name, { contract, definition, run });
    return this;
  }

  async list(_binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    signal.throwIfAborted();
    if (this.listError !== undefined) throw this.listError;
    const tools = [...this.#tools].map(([name, { definition }]) => ({ name, definition }));
    return { tools, omitted: this.omitted };
  }

  async resolve(_binding: Binding, exposedName: string): Promise<ResolvedTool> {
    if (this.resolveError !== undefined) throw this.resolveError;
    const tool = this.#tools.get(exposedName);
    if (tool !== undefined) return tool;
    throw new RemoteConnectorError("unknown_tool", {
      message: `There is no tool ${exposedName}.`,
      details: { tool: exposedName },
    });
  }

  call(binding: Binding, tool: ResolvedTool, call: ToolCall): Promise<UpstreamAnswer> {
    for (const [name, known] of this.#tools) {
      if (known !== tool) continue;
      this.calls.push({ name, call, binding });
      return known.run(call, binding);
    }
    throw new Error("Not a tool that this directory handed out");
  }

  instructions(): string {
    return "Fixed tools for tests.";
  }
}

/** A directory whose list hangs until its signal aborts. */
export class NeverLists extends FixedDirectory {
  override list(_binding: Binding, signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
}

/** A result from its JSON text. */
export function answerOf(text: string, era: UpstreamAnswer["era"] = "modern"): UpstreamAnswer {
  const { resultType }: { resultType?: string } = JSON.parse(text);
  return { raw: Buffer.from(text), era, resultType };
}

/** What answers with one fixed text. */
export function says(text: string, era?: UpstreamAnswer["era"]): () => Promise<UpstreamAnswer> {
  return async () => answerOf(text, era);
}

/** What hangs until its signal aborts, and rejects with the signal's reason then. */
export function hangs(
  onAbort: (reason: unknown) => void = () => undefined,
): (request: ForwardedRequest) => Promise<UpstreamAnswer> {
  return ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        onAbort(signal.reason);
        reject(signal.reason);
      });
    });
}

export const HELLO = '{"resultType":"complete","content":[{"type":"text","text":"hello"}]}';
