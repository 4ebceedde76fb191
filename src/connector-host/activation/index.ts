export {
  activateRemote,
  misplacedDemand,
  type RemoteActivation,
  type RemoteActivationRequest,
  type RemoteActivationPorts,
} from "./activate-remote.js";
export { type ActivationIdentity, ActivationMemory } from "./activation-memory.js";
export { type AuthorizationDemand, readAuthorizationDemand } from "./authorization-demand.js";
export { type ActivationFault, classifyActivationFault } from "./classify-activation-fault.js";
export { type CheckedToolList, checkToolList, type ToolListDiagnostic } from "./tool-list.js";
