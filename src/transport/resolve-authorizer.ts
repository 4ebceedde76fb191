import { refuseOption } from "../options.js";
import type { Authorize, Authorizer } from "./authorize.js";

/** The option `authorize` in the one form that requests know. Throws `invalid_options` for what is neither. */
export function resolveAuthorizer(given: Authorize | Authorizer | undefined): Authorizer | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "function") return { authorize: given };
  if (typeof given !== "object" || given === null || typeof given.authorize !== "function") {
    refuseOption("authorize", "must be a function, or an object whose authorize is one");
  }
  for (const name of ["onRefused", "onAnswered"] as const) {
    const told: unknown = given[name];
    if (told !== undefined && typeof told !== "function") refuseOption(`authorize.${name}`, "must be a function");
  }
  return given;
}
