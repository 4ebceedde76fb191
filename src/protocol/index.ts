export { invalidAnswer, peerError, type PeerErrorContext, toolEntries } from "./answer-errors.js";
export { isAuthorizationFailure, isNotAuthorized } from "./authorization-failure.js";
export {
  type DetailedResult,
  type EntryList,
  type RequestOptions,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "./client-calls.js";
export { type Diagnostic, type DiagnosticKind } from "./diagnostic.js";
export { type CheckedEntries, EntryCheck, type EntryRules } from "./entry-check.js";
export {
  classifyProbe,
  ERA_RULES,
  type EraRule,
  type EraVerdict,
  type ProbeContext,
  type ProbeFacts,
  type ProbeOutcome,
} from "./era.js";
export { type GatewayRefusal, gatewayRefusalOf } from "./gateway-refusal.js";
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
export { checkListPage, entriesIn, type ListKind, PROMPTS, RESOURCES, TEMPLATES } from "./list-kinds.js";
export { LIST_WALK_LIMITS, ListWalk, type ListWalkLimits } from "./list-walk.js";
export { type Answer, MessageChannel, type Reception } from "./message-channel.js";
export { isMetaKey, isReservedMetaKey, MetaKey } from "./meta.js";
export {
  type CompletionParams,
  completionParams,
  cursorIn,
  type ListParams,
  type PromptParams,
  promptParams,
  type ResourceParams,
  resourceParams,
} from "./method-params.js";
export { recogniseMissing, shownUri } from "./missing-resource.js";
export { parseJson } from "./parse-json.js";
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
export { type ReadRetryConfig, readRetryDelayMs } from "./read-retries.js";
export { refuseArgument } from "./refuse-argument.js";
export { parseRetryAfter, readRetryAfterMs } from "./retry-after.js";
export {
  deliveryBehind,
  isPassing,
  isReadMethod,
  type RetryAdvice,
  retryAdvice,
  type RetrySituation,
} from "./retry-advice.js";
export { readCompletion, withArray } from "./result-checks.js";
export {
  type CallToolResult,
  type CompleteResult,
  type DiscoverResult,
  type GetPromptResult,
  type Implementation,
  type ListPage,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type Notification,
  type Progress,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
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
export { walkEntries } from "./walk-entries.js";
export { type FetchPage, type Gathering, type ListWalkOptions, type RawListPage, walkList } from "./walk-list.js";
export { type ToolWalkOptions, type ToolWalkResult, walkTools } from "./walk-tools.js";
export { type LoadValidator, validatorLoader } from "./validator-loader.js";
export { isLoopback, shownUrl } from "./web-address.js";
