import type { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import { findFault } from "./find-fault.js";
import { explainForeignMember } from "./foreign-member.js";
import { releaseSchema } from "./release-schema.js";

/**
 * The immutable published description of a connector version.
 *
 * It says who the connector is and which binding of the gateway stands behind it. Where that binding leads, how it is
 * reached and how it is kept well are the gateway's business, and can't be said here.
 */
export type Release = z.infer<typeof releaseSchema>;

/** What of a release the gateway's binding must agree with. */
export type BindingContract = Omit<Release["runtime"], "kind">;

/** What an account has to do before a connector may run for it. */
export type AuthorizationKind = Release["authorization"]["kind"];

/**
 * Reads a release from untrusted data. The result is a frozen copy.
 *
 * Throws `invalid_release`, whose `member` is the path of the member at fault. An unknown member is refused wherever it
 * stands, and named before any other fault: that is how an endpoint, a host list, a header or query rule, and a timeout,
 * retry, rate, region or health policy are kept out. `reason` says which of these it seems to be.
 */
export function parseRelease(value: unknown): Release {
  const parsed = releaseSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { member, reason } = findFault(parsed.error.issues, explainForeignMember);
  throw new RemoteConnectorError("invalid_release", {
    message: `The release is refused: ${member === "" ? "" : `${member}: `}${reason}.`,
    details: { member, reason },
  });
}
