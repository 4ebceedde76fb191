export {
  type Answer,
  answerBody,
  type AnswerBody,
  type AnswerChanges,
  answerError,
  answerEvents,
  answerFeed,
  answerMessage,
  answerNothing,
  answerRaw,
  answerRedirect,
  answerResult,
  answerStatus,
  type Framing,
  withFaults,
} from "./answer.js";
export {
  type AssertionVerdict,
  type AuthorizationClient,
  type AuthorizationEndpoint,
  type AuthorizationRules,
  AuthorizationServer,
  type AuthorizationServerFault,
  type AuthorizationServerOptions,
  type AuthorizationServerRequest,
  type ClientAuthentication,
  type Consent,
  type ExchangeToken,
  type ExchangeVerdict,
  type FindClientDocument,
  type GrantRefusal,
  type GrantRequest,
  type IssuedToken,
  type JsonAnswer,
  type JudgeAssertion,
  type MetadataForm,
  type RewriteAnswer,
  type Visit,
} from "./authorization-server/index.js";
export { EventFeed, type FeedEnd, type FeedListener } from "./event-feed.js";
export {
  commentEvent,
  dataEvent,
  type EventFields,
  type EventTemplate,
  type LineEnd,
  messageEvent,
  streamText,
} from "./event.js";
export {
  closeIdleAfter,
  compress,
  cutAt,
  delay,
  drip,
  type Fault,
  floodBody,
  floodHeaders,
  type FloodOptions,
  holdUntil,
  inform,
  keepOpen,
  type Place,
  resetAt,
  splitAt,
  stallAt,
} from "./fault.js";
export { forwardTo } from "./forward.js";
export { Gate } from "./gate.js";
export { type PublicKey } from "./jws.js";
export { likeLegacyServer, type LegacyServerOptions, likeSseServer, type SseServerOptions } from "./legacy-server.js";
export {
  type AnswerId,
  anyMessage,
  errorMessage,
  type MessageTemplate,
  notificationMessage,
  progressMessage,
  requestMessage,
  resultMessage,
} from "./message.js";
export { likeModernServer } from "./modern-server.js";
export {
  type AccessRecord,
  type MetadataPlace,
  ProtectedServer,
  type ProtectedServerOptions,
  type Protection,
  type TokenSource,
} from "./protected-server/index.js";
export { type ReceivedRequest } from "./received-request.js";
export { ANY_TIMES, type ExpectedExchange, type Handler, type Script } from "./script.js";
export { type ScriptOrder } from "./script-run.js";
export { ScriptedServer } from "./scripted-server.js";
export { type ConnectionBehaviour, type ScriptedServerOptions, type TlsIdentity } from "./server-options.js";
export { StepClock } from "./step-clock.js";
export { type TestClock } from "./test-clock.js";
export { type MethodHandler, type ScriptedTool, type ToolServerOptions } from "./tool-table.js";
