export { type AnswerHead, deliveryByStatus, hintsOf, isSuccess, snippetOf } from "./answer-head.js";
export { type Authorize, type AuthorizeRequest } from "./authorize.js";
export { type Clock, systemClock } from "./clock.js";
export { type EndpointPolicy, isLoopback, parseEndpoint, shownUrl } from "./endpoint.js";
export {
  type Exchange,
  type ExchangeCapability,
  type ExchangeControl,
  type ExchangeHandler,
  type ExchangeRequest,
  type ResponseHeaders,
} from "./exchange.js";
export { addHeaders, type HeaderMap } from "./headers.js";
export { type HttpCall, type HttpCallOwner, type HttpCallRequest } from "./http-call.js";
export { HttpEndpoint } from "./http-endpoint.js";
export { type HttpAnswer, httpGet, type HttpGetOptions } from "./http-get.js";
export { type DeadlinePhase, type Lifetime, type LifetimeLimits, type LifetimeOwner, Lifetimes } from "./lifetime.js";
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
export { Settlement } from "./settlement.js";
export { createUndiciExchange, type UndiciExchangeOptions } from "./undici-exchange.js";
