import { RemoteConnectorError } from "../../errors.js";
import type { Fault } from "../release/index.js";

/** `invalid_registration` for what a fault was found in: `"registration"`. */
export function registrationRefused(
  subject: string,
  { member, reason }: Fault,
): RemoteConnectorError<"invalid_registration"> {
  return new RemoteConnectorError("invalid_registration", {
    message: `The ${subject} is refused: ${member === "" ? "" : `${member}: `}${reason}.`,
    details: { member, reason },
  });
}
