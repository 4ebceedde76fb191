import { expect } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";

/** The member that `parse` refuses with `invalid_registration`; `(accepted)` when it refuses nothing. */
export function refusedMember(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_registration")) throw error;
    expect(error.delivery).toBe("not_sent");
    expect(error.details.reason).not.toBe("");
    return error.details.member;
  }
  return "(accepted)";
}
