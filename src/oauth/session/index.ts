/** What is done for requests that need authorization, and for people who sign in. */
export { AccountAuthorizer } from "./account-authorizer.js";
export { demandSignIn } from "./demand-sign-in.js";
export { accountOf } from "./grant-shelf.js";
export { NO_CHALLENGE } from "./authorization-plan.js";
export { parseGrant } from "./record-codec.js";
export { normalEndpoint, SessionBook } from "./session-book.js";
export { signedInAccount } from "./signed-in-account.js";
export { finishSignIn, startSignIn } from "./start-sign-in.js";
export { waitFor } from "./waiting.js";
