import { RemoteConnectorError } from "../errors.js";

/** JSON of a caller's value. Throws `invalid_argument` (`not_sent`) for what has no JSON form. */
export function encodeJson(argument: string, value: unknown): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (json !== undefined) return json;
  throw new RemoteConnectorError("invalid_argument", {
    message: `The argument ${argument} has no JSON form.`,
    details: { argument, reason: "no JSON form" },
    cause,
  });
}
