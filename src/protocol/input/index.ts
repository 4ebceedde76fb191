export { type Answerer, answererOf, type AnswerSources, handlerFailed, type OurTime } from "./answer-request.js";
export { capabilityOf } from "./capability-of.js";
export { checkRelay, classifyAsk, serverAskOf, takesForms } from "./classify-ask.js";
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
export { pauseOfRound, tooManyRounds } from "./input-round.js";
export { readAskedInput } from "./read-asked-input.js";
export type { AnswerAsk, InputRelay, ServerAsk, ServerAskAnswer } from "./server-ask.js";
