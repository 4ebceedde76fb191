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
export { type InputConfig, InputRounds } from "./input-rounds.js";
