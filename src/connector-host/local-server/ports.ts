import type { Delivery } from "../../errors.js";
import type { JsonObject, Notification, Progress, RawJson, ToolContract } from "../../protocol/index.js";
import type { AnswerAsk } from "../../protocol/input/index.js";
import type { LogLevel } from "../../serving/index.js";

/** The sign-in that a binding was made under. It never changes during the binding's life. */
export interface BoundLogin {
  readonly accountId: string;
  readonly generation: number;
}

/** The agent's turn that a binding was made for, when its owner tells turns apart. */
export interface Invocation {
  readonly id: string;
  readonly generation: number;
}

/**
 * Whom a bearer stands for. Frozen, and one object for the bearer's whole life, so that it can key a `WeakMap`. Nothing
 * that an agent sends changes any of it.
 */
export interface Binding {
  readonly workspaceId: string;
  readonly agentSessionId: string;
  readonly invocation: Invocation | undefined;
  /** `undefined`: nobody was signed in, so that only the connectors of the device are in reach. */
  readonly login: BoundLogin | undefined;
  /** What its agent is shown otherwise, by the host's own name for it. */
  readonly profile?: string | undefined;
  /** Set for a binding that has a name and no login of its own: its account's connectors are in reach while that is signed in. */
  readonly durable?: { readonly name: string; readonly accountId: string | undefined } | undefined;
  /** `agent`: whoever made it vouches that its agent asks a person what it is asked, so that it may be asked for approvals. */
  readonly approvals?: "agent" | undefined;
}

/** One tool as agents see it. */
export interface ExposedTool {
  readonly name: string;
  /** The whole definition as JSON text, with `name` as its name and everything else as its server wrote it. */
  readonly definition: string;
}

/** A connector that is enabled but not in this list. */
export interface OmittedConnector {
  readonly connectorKey: string;
  /** For people and models; shown to agents as it is. */
  readonly reason: string;
}

/** What an agent may see now. A list with omissions is an answer: one failing connector never hides another. */
export interface ToolListing {
  /** In the order to be shown; the same order for the same tools. */
  readonly tools: readonly ExposedTool[];
  readonly omitted: readonly OmittedConnector[];
  /** Connectors whose tools are in the list as they were last, since they can't be asked now, with what they are at. */
  readonly stale?: readonly OmittedConnector[] | undefined;
}

/** The tool behind an exposed name. The directory may hand out objects that hold more: it gets the same one back. */
export interface ResolvedTool {
  /** What the call's `Mcp-Param-*` headers are compared with, and what the upstream call has to be made with. */
  readonly contract: ToolContract;
}

/** What every request that travels on to a connector carries. */
export interface ForwardedRequest {
  /** What of the agent's `_meta` may travel on. Neither reserved keys nor the product's are in it. */
  readonly meta: JsonObject;
  /** The least level of the log messages that the agent asked for; `undefined`: it must get none. */
  readonly logLevel: LogLevel | undefined;
  /** Aborted when the agent leaves, its binding or the server ends, or the deadline passed. Settle soon after. */
  readonly signal: AbortSignal;
  /** What has the shape of `signal`, fires with it, and costs much less: for who needs no `AbortSignal` of the platform. */
  readonly quickSignal?: AbortSignal | undefined;
  /** Fires the signal with a reason of the directory's own. Left out: the directory joins signals where it has such reasons. */
  readonly abort?: ((reason: unknown) => void) | undefined;
  /** When the request must have ended, in milliseconds on the server's clock. */
  readonly deadline: number;
  /** Told of upstream progress. Absent when the agent asked for none. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told of the upstream's other notifications of this request. Absent when the agent would get none of them. */
  readonly onNotification?: ((notification: Notification) => void) | undefined;
  /** How the agent can be asked in the midst of it. Absent: it can't be. */
  readonly input?: AgentInput | undefined;
}

/** How an agent is asked for what a connector's server, or the host, wants to know before it goes on with a request. */
export interface AgentInput {
  /** What it declared that it can be asked: `elicitation`, `sampling` and `roots`, each an object; nothing else is in it. */
  readonly capabilities: JsonObject;
  /**
   * Asks it over the stream of its request, and resolves to its answer; once the agent can't be reached any more, to an error. Absent for
   * an agent that is asked by a result of the type `input_required`, and answers by making its request again.
   */
  readonly ask?: AnswerAsk | undefined;
  /** The same for requests of one agent, where agents that share a bearer can be told apart. Absent: all of the bearer's are one agent's. */
  readonly holder?: object | undefined;
  /** What a request goes on with that was made again. Absent for a first one. */
  readonly continuation?: Continuation | undefined;
}

/** What an agent gives beside the parameters of its first request. Nothing of it is trusted. */
export interface Continuation {
  /** `inputResponses` as the agent wrote them: an object. `undefined` when it gave none. */
  readonly responses: RawJson | undefined;
  /** `requestState`. `undefined` when it gave none; the empty string is one. */
  readonly state: string | undefined;
}

/** One call of a tool. */
export interface ToolCall extends ForwardedRequest {
  /** The arguments as the agent wrote them: the text of a JSON object. `undefined` when it sent none. */
  readonly argumentsText: string | undefined;
  /** What that text was parsed to, where it was. */
  readonly args?: JsonObject | undefined;
}

/** A result of a connector's server, or of the host that asks before it goes on. */
export interface UpstreamAnswer {
  /** The upstream's result object, byte for byte. */
  readonly raw: Uint8Array;
  /** The era of the connection that it came over: it says which members mean something. */
  readonly era: "modern" | "legacy";
  /** The result's own `resultType`; `undefined` when it has none. */
  readonly resultType: string | undefined;
}

/** Prompts, resources or templates as agents see them. A list with omissions is an answer. */
export interface EntryListing {
  /** Whole definitions as JSON text, in the order to be shown; the same order for the same entries. */
  readonly entries: readonly string[];
  readonly omitted: readonly OmittedConnector[];
}

/** The prompts of all connectors in reach that are opened for them, named like tools. */
export interface PromptDirectory {
  /** Rejects only when no connector at all could be listed. */
  list(binding: Binding, signal: AbortSignal): Promise<EntryListing>;
  /** Rejects with `unknown_prompt` for a name that belongs to nothing in the binding's reach. */
  get(binding: Binding, exposedName: string, request: PromptRequest): Promise<UpstreamAnswer>;
}

export interface PromptRequest extends ForwardedRequest {
  /** As for tools. */
  readonly argumentsText: string | undefined;
}

/** The resources of all connectors in reach that are opened for them, under their servers' own URIs. */
export interface ResourceDirectory {
  /** Rejects only when no connector at all could be listed. */
  list(binding: Binding, signal: AbortSignal): Promise<EntryListing>;
  listTemplates(binding: Binding, signal: AbortSignal): Promise<EntryListing>;
  /**
   * Rejects with `resource_not_found` for a URI that no connector in reach owns, and with `ambiguous_resource`, which names the
   * owners, for one that several do.
   */
  read(binding: Binding, uri: string, request: ResourceRequest): Promise<UpstreamAnswer>;
  /**
   * Has `onUpdated` called whenever the owner says that the resource changed, until `signal` fires. Resolves when the owner
   * takes part. Rejects as `read` does, and with `unsupported` when the owner's server has no subscriptions.
   */
  subscribe(binding: Binding, uri: string, watch: ResourceWatch): Promise<void>;
}

export interface ResourceRequest extends ForwardedRequest {
  /** The owner that the agent chose among several. */
  readonly connectorKey?: string | undefined;
}

export interface ResourceWatch {
  readonly signal: AbortSignal;
  readonly onUpdated: () => void;
  /** The owner that the agent chose among several. */
  readonly connectorKey?: string | undefined;
}

/** What is to be completed. */
export interface CompletionRequest extends ForwardedRequest {
  readonly ref: CompletionReference;
  readonly argument: { readonly name: string; readonly value: string };
  readonly context: JsonObject | undefined;
  /** The owner of the template that the agent chose among several. */
  readonly connectorKey?: string | undefined;
}

/** An exposed prompt, or a resource template by its URI. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** A request that could not be made. */
export interface UnmadeRequest {
  readonly error: unknown;
  readonly delivery: Delivery;
}

/**
 * Everything that the local server knows of connectors. The host implements it.
 *
 * Methods run side by side, for one binding and for many. Failures are `RemoteConnectorError`s, or the signal's reason;
 * anything else is reported as a fault and answered without its text. Promises settle soon after their signal aborts: an
 * agent that has no answer a second or two after that gets a cut connection.
 */
export interface ToolDirectory {
  /** Rejects only when no connector at all could be listed. */
  list(binding: Binding, signal: AbortSignal): Promise<ToolListing>;
  /** What `resolve` would resolve to, where that can be told at once; `undefined` otherwise, and whenever it would reject. */
  known?(binding: Binding, exposedName: string): ResolvedTool | undefined;
  /** Rejects with `unknown_tool` for a name that belongs to nothing in the binding's reach. */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal, deadline?: number): Promise<ResolvedTool>;
  /** `tool` is the object that `known` or `resolve` gave for this call. */
  call(binding: Binding, tool: ResolvedTool, call: ToolCall): Promise<UpstreamAnswer>;
  /**
   * What the call fails with, and the verdict on it, when no tool was resolved for it: it may go on with one that was sent. Left out:
   * with what `resolve` rejected with, and `not_sent`.
   */
  unmade?(call: ToolCall, error: unknown): UnmadeRequest;
  /** Text for the model about the connectors in reach; `undefined` for none. */
  instructions?(binding: Binding): string | undefined;
  /** Told that a binding is over: nothing more comes from it. Must not throw. */
  onBindingEnd?(binding: Binding): void;
  /** Left out: the server offers no prompts. */
  readonly prompts?: PromptDirectory | undefined;
  /** Left out: the server offers no resources. */
  readonly resources?: ResourceDirectory | undefined;
  /** Left out: the server completes nothing. Rejects as the reference's own `get` or `read` does. */
  complete?(binding: Binding, request: CompletionRequest): Promise<UpstreamAnswer>;
}
