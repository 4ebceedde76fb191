import type { JsonObject, Notification, Progress, ToolContract } from "../../protocol/index.js";
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
}

/** The tool behind an exposed name. The directory may hand out objects that hold more: it gets the same one back. */
export interface ResolvedTool {
  /** What the call's `Mcp-Param-*` headers are compared with, and what the upstream call has to be made with. */
  readonly contract: ToolContract;
}

/** One call of a tool. */
export interface ToolCall {
  /** The arguments as the agent wrote them: the text of a JSON object. `undefined` when it sent none. */
  readonly argumentsText: string | undefined;
  /** What of the agent's `_meta` may travel on. Neither reserved keys nor the product's are in it. */
  readonly meta: JsonObject;
  /** The least level of the log messages that the agent asked for; `undefined`: it must get none. */
  readonly logLevel: LogLevel | undefined;
  /** Aborted when the agent leaves, its binding or the server ends, or the deadline passed. Settle soon after. */
  readonly signal: AbortSignal;
  /** When the call must have ended, in milliseconds on the server's clock. */
  readonly deadline: number;
  /** Told of upstream progress. Absent when the agent asked for none. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told of the upstream's other notifications of this call. Absent when the agent would get none of them. */
  readonly onNotification?: ((notification: Notification) => void) | undefined;
}

/** The result of a call. */
export interface ToolAnswer {
  /** The upstream's result object, byte for byte. */
  readonly raw: Uint8Array;
  /** The era of the connection that it came over: it says which members mean something. */
  readonly era: "modern" | "legacy";
  /** The result's own `resultType`; `undefined` when it has none. */
  readonly resultType: string | undefined;
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
  /** Rejects with `unknown_tool` for a name that belongs to nothing in the binding's reach. */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<ResolvedTool>;
  /** `tool` is the object that `resolve` gave for this call. */
  call(binding: Binding, tool: ResolvedTool, call: ToolCall): Promise<ToolAnswer>;
  /** Text for the model about the connectors in reach; `undefined` for none. */
  instructions?(binding: Binding): string | undefined;
}
