export { type Answerer, answererOf, type AnswerSources, handlerFailed, type OurTime } from "./answer-request.js";
export {
  capabilitiesOf,
  checkHandlers,
  type FormAnswer,
  type FormRequest,
  type InputContext,
  type InputHandlers,
  type Root,
  type UrlAnswer,
  type UrlRequest,
} from "./input-handlers.js";
export { type InputRequest, readInputRequest } from "./input-request.js";
export type { AnswerAsk, InputRelay, ServerAsk, ServerAskAnswer } from "./server-ask.js";
