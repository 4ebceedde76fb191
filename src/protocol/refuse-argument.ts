import { RemoteConnectorError } from "../errors.js";

/** Throws `invalid_argument` (`not_sent`) for an argument of a call. */
export function refuseArgument(argument: string, reason: string, cause?: unknown): never {
  throw new RemoteConnectorError("invalid_argument", {
    message: `The argument ${argument} ${reason}.`,
    details: { argument, reason },
    cause,
  });
}
