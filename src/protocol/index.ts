export { invalidAnswer, peerError, type PeerErrorContext, toolEntries } from "./answer-errors.js";
export {
  type DetailedResult,
  type RequestOptions,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "./client-calls.js";
export { type Diagnostic, type DiagnosticKind } from "./diagnostic.js";
export { decodeHeaderValue, encodeHeaderValue } from "./header-value.js";
export {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type JsonRpcError,
  type Message,
  type RequestId,
  RpcCode,
} from "./json-rpc.js";
export { LIST_WALK_LIMITS, ListWalk, type ListWalkLimits } from "./list-walk.js";
export { isMetaKey, isReservedMetaKey, MetaKey } from "./meta.js";
export { plainText } from "./plain-text.js";
export {
  type ByteRange,
  memberRange,
  RawJson,
  type RawMember,
  type RawObject,
  scanArray,
  scanObject,
} from "./raw-json.js";
export {
  type CallToolResult,
  type DiscoverResult,
  type Implementation,
  type ListToolsResult,
  type Notification,
  type Progress,
  type Tool,
} from "./results.js";
export {
  isLegacyRevision,
  isModernRevision,
  LEGACY_REVISIONS,
  type LegacyRevision,
  MODERN_REVISION,
  MODERN_REVISIONS,
  type ModernRevision,
  type Revision,
} from "./revisions.js";
export { StreamDecoder, type StreamDecoderOptions, type StreamEvent } from "./stream-decoder.js";
export {
  EMPTY_CONTRACT,
  mirrorArguments,
  type MirroredHeader,
  type MirroredParameter,
  readToolContract,
  type ToolContract,
  type ToolContractVerdict,
} from "./tool-contract.js";
export { toolDefinitions } from "./tool-definitions.js";
export { type CheckedTools, ToolListCheck } from "./tool-list.js";
export { type ToolPage, type ToolWalkOptions, type ToolWalkResult, walkTools } from "./walk-tools.js";
