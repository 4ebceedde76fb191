export { connectOpener } from "./connect-opener.js";
export { type OpenedServer, type OpenServer, type ServerOpening } from "./open-server.js";
export { type SupervisedState } from "./supervised-state.js";
export {
  type ClientOptions,
  type SupervisedCall,
  type SupervisedCallOptions,
  type SupervisedServer,
  superviseServer,
  type WaitOptions,
} from "./supervised-server.js";
export {
  type SuperviseCommandOptions,
  type SuperviseOpenOptions,
  type SuperviseOptions,
  type SupervisionOptions,
} from "./supervision-options.js";
