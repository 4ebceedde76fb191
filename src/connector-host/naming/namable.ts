import { RemoteConnectorError } from "../../errors.js";

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a tool can have a name at all: an empty or ill-formed native one can't. */
export function isNamable(nativeName: string): boolean {
  return nativeName !== "" && !LONE_SURROGATE.test(nativeName);
}

/** Throws `invalid_argument` for a key that is no well-formed text. */
export function assertWellFormedKey(connectorKey: string): void {
  if (LONE_SURROGATE.test(connectorKey)) refuseKey("must be well-formed text", "a lone surrogate");
}

/** Throws `invalid_argument` for a key. */
export function refuseKey(rule: string, reason: string): never {
  throw new RemoteConnectorError("invalid_argument", {
    message: `A connector key ${rule}.`,
    details: { argument: "connectorKey", reason },
  });
}
