import type { JsonObject, RequestId } from "../../protocol/index.js";
import type { HeaderFields, LogLevel } from "../../serving/index.js";

/** A request of an agent of either era, past the checks that don't depend on its method. */
export interface AgentRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** The whole JSON-RPC message, from which what travels on is cut out as it was written. */
  readonly message: Uint8Array;
  readonly era: "modern" | "legacy";
  /** The request's headers, to be compared with a tool's arguments. Legacy revisions mirror nothing. */
  readonly headers: HeaderFields | undefined;
  readonly progressToken: RequestId | undefined;
  /** The least level of log messages that the agent wants; `undefined`: none. */
  readonly logLevel: LogLevel | undefined;
  /** What a modern agent says with each request that it can do. `undefined` for a legacy one, which said it once, if ever. */
  readonly clientCapabilities: JsonObject | undefined;
}
