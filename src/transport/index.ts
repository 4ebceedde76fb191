export { type AnswerHead, deliveryByStatus, hintsOf, isSuccess, snippetOf } from "./answer-head.js";
export { type AuthorizationRefusal, type Authorize, type Authorizer, type AuthorizeRequest } from "./authorize.js";
export { failureOf, internalFault, NOTHING_SENT, streamEnded } from "./call-failures.js";
export { type Clock, systemClock } from "./clock.js";
export { type AllowedAddresses, guardConnector, guardLookup } from "./address-guard.js";
export {
  type ClientCertificate,
  type ConnectionConfig,
  type ConnectionOptions,
  type Pem,
  type ProxyAddress,
} from "./connection-options.js";
export {
  ENDPOINT_OPTION_NAMES,
  type EndpointConfig,
  type EndpointOptions,
  resolveEndpointOptions,
} from "./endpoint-options.js";
export { type EndpointPolicy, isLoopback, parseEndpoint, shownUrl } from "./endpoint.js";
export {
  type Exchange,
  type ExchangeCapability,
  type ExchangeControl,
  type ExchangeHandler,
  type ExchangeRequest,
  type ResponseHeaders,
} from "./exchange.js";
export {
  EXCHANGE_CHANNELS,
  type ExchangeConnectEvent,
  type ExchangeEndEvent,
  type ExchangeHeadEvent,
  type ExchangeSentEvent,
} from "./exchange-events.js";
export {
  type ExchangeResult,
  type ExchangeSubject,
  resultOfAbort,
  resultOfAnswer,
  resultOfError,
  TRACE_KEYS,
  type TraceContext,
} from "./exchange-facts.js";
export { createFetchExchange, type FetchExchangeOptions, type FetchFunction } from "./fetch-exchange.js";
export { resolveAuthorizer } from "./resolve-authorizer.js";
export {
  type HeaderFunction,
  type HeaderSource,
  type HeaderSources,
  type ResolvedHeaders,
  resolveHeaderSources,
} from "./header-sources.js";
export { addHeaders, type HeaderMap, refuseCookie } from "./headers.js";
export { type HttpCall } from "./http-call.js";
export { type HttpCallOwner, type HttpCallRequest } from "./http-call-ports.js";
export { closedError, HttpEndpoint } from "./http-endpoint.js";
export { type HttpAnswer, httpGet, type HttpOnceOptions, httpSend, type HttpSendOptions } from "./http-once.js";
export { type DeadlinePhase, type Lifetime, type LifetimeLimits, type LifetimeOwner, Lifetimes } from "./lifetime.js";
export {
  carefulLogger,
  type FieldsFirstLogger,
  type LogFields,
  type Logger,
  pinoLogger,
  silentLogger,
} from "./logger.js";
export { deadlineFailure, refusalOf } from "./http-failures.js";
export {
  PROCESS_OPTION_NAMES,
  type ProcessConfig,
  type ProcessOptions,
  resolveProcessOptions,
} from "./process-options.js";
export { redirectRefused } from "./redirect.js";
export { RequestSlots, type SlotWaiter } from "./request-slots.js";
export {
  type CallTelemetry,
  type ExchangeTelemetry,
  resolveTelemetryOptions,
  Telemetry,
  TELEMETRY_OPTION_NAMES,
  type TelemetryConfig,
  type TelemetryOptions,
} from "./telemetry.js";
export {
  CALL_TIMEOUT_MS,
  type DeadlineOptions,
  type Deadlines,
  LIFECYCLE_TIMEOUT_MS,
  resolveDeadlines,
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportConfig,
  type TransportOptions,
} from "./transport-options.js";
export { type Settled, type SettledListener, Settlement } from "./settlement.js";
export { createUndiciExchange, type UndiciExchangeOptions } from "./undici-exchange.js";
export { bodyText, jsonValuesIn, unexpectedAnswer, type WholeAnswer } from "./whole-answer.js";
