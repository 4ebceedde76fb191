export { canonicalJson } from "./canonical-json.js";
export { isConnectorKey } from "./connector-key.js";
export { type Fault, findFault } from "./find-fault.js";
export { assertHostVersion } from "./host-version.js";
export { localConnectionId, releaseDigest } from "./identities.js";
export { type AuthorizationKind, type BindingContract, parseRelease, type Release } from "./parse-release.js";
