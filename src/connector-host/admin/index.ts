export { createAdminClient, type VerbSending } from "./admin-client.js";
export { AdminPlane } from "./admin-plane.js";
export { answerVerb, MAX_VERB_BYTES, terminalRequired } from "./answer-verb.js";
export { CONFIRMATION_MS, Confirmations } from "./confirmations.js";
export { restoreFault } from "./faults.js";
export { managedCall } from "./managed-call.js";
export {
  type ManagedApproval,
  type ManagedCall,
  type ManagedCatalog,
  type ManagedConnector,
  type ManagedTool,
  type ManagementView,
} from "./management-view.js";
export {
  type AdminHost,
  type AdminLink,
  type ManagedSignIn,
  type SignInRequest,
  type AdminVerbs,
  type CallQuery,
  type TestCallRequest,
  type TestCallResult,
} from "./ports.js";
export { plainText, quoteText } from "./quote-text.js";
export { ADMIN_VERBS } from "./verbs.js";
