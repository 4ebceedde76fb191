import { createHash } from "node:crypto";
import { z } from "zod";
import { isRemoteConnectorError } from "../../errors.js";
import { LEGACY_REVISIONS, MODERN_REVISIONS, type Revision } from "../../protocol/index.js";
import { addHeaders, parseEndpoint } from "../../transport/index.js";
import { canonicalJson } from "../release/index.js";
import { type ConfiguredValue, configuredValue, textsIn } from "./configured-value.js";
import { type Table, tableOf } from "./table-schema.js";

/**
 * What of MCP is spoken with a server: whatever both sides can, that of one era, that of one revision, or HTTP+SSE, which is older
 * than the oldest revision over plain HTTP.
 */
export type ProtocolPreference = "auto" | "modern" | "legacy" | "sse" | Revision;

/** Where a registered server is, and what every request to it carries. Replaced as a whole, or not at all. */
export interface ConnectionSettings {
  /** An https or http URL in its normal form, without userinfo and fragment. */
  readonly endpoint: string;
  /** Each name once, whatever its case. */
  readonly headers: Table<ConfiguredValue>;
  readonly protocol: ProtocolPreference;
  /** Whose account is meant when the server asks for OAuth; `false`: it is not answered. Left out: the account `""`. */
  readonly oauth?: OAuthSettings | false | undefined;
}

/** How a registration is signed in. Tokens are not here: they are in the store of whoever runs the host. */
export interface OAuthSettings {
  /** A name of one's own, for one of several accounts at the same server. */
  readonly account: string;
  /** Scopes that are asked for beside those that the server names. */
  readonly scopes: readonly string[];
}

const ENDPOINT_LENGTH = 4_096;
const HEADERS = 64;
const HEADER_NAME_LENGTH = 128;
const ACCOUNT_LENGTH = 128;
const SCOPES = 64;
const SCOPE_LENGTH = 256;

const endpoint = z
  .string()
  .max(ENDPOINT_LENGTH)
  .transform((value, context) => {
    // The parsed URL no longer tells an empty fragment from none.
    if (value.includes("#")) context.addIssue({ code: "custom", message: "holds a fragment" });
    try {
      return parseEndpoint(value, { allowInsecureHttp: true }).href;
    } catch (error) {
      context.addIssue({ code: "custom", message: reasonOf(error) });
      return z.NEVER;
    }
  });

const headerValue = configuredValue.superRefine((value, context) => {
  const reason = textsIn(value).map(refuseHeaderText).find(isText);
  if (reason !== undefined) context.addIssue({ code: "custom", message: reason });
});

const oauth = z.union([
  z.literal(false),
  z
    .strictObject({
      account: z
        .string()
        .max(ACCOUNT_LENGTH)
        .regex(/^[\x21-\x7e]*$/, "must be visible ASCII without spaces")
        .default(""),
      scopes: z
        .array(
          z
            .string()
            .max(SCOPE_LENGTH)
            .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "must be a scope"),
        )
        .max(SCOPES)
        .readonly()
        .default([]),
    })
    .readonly(),
]);

/** The schema of {@link ConnectionSettings}. What a host's policy has to say of them is asked afterwards. */
export const connectionSettings: z.ZodType<ConnectionSettings> = z
  .strictObject({
    endpoint,
    headers: tableOf(headerValue, { maxEntries: HEADERS, refuseName: refuseHeaderName }).prefault({}),
    protocol: z.enum(["auto", "modern", "legacy", "sse", ...MODERN_REVISIONS, ...LEGACY_REVISIONS]).default("auto"),
    oauth: oauth.optional(),
  })
  .readonly();

/**
 * The identity of connection settings: the SHA-256 of their canonical JSON, as 64 lower-case hex digits. The case of a header's
 * name does not count, nor does the order of headers.
 */
export function settingsDigest({ endpoint: url, headers, protocol, oauth: account }: ConnectionSettings): string {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  named.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(
      canonicalJson({ endpoint: url, headers: named, protocol, ...(account === undefined ? {} : { oauth: account }) }),
      "utf8",
    )
    .digest("hex");
}

/** Why a header of this name can't be configured; `undefined` when it can. `others` are the names before it. */
function refuseHeaderName(name: string, others: ReadonlySet<string>): string | undefined {
  if (name.length > HEADER_NAME_LENGTH) return `must have a name of at most ${String(HEADER_NAME_LENGTH)} characters`;
  const lower = name.toLowerCase();
  for (const other of others) if (other.toLowerCase() === lower) return `is there twice: ${other} is the same header`;
  return refuseHeader({ [name]: "" });
}

/** Why `text` can't be a part of a header's value; `undefined` when it can. */
export function refuseHeaderText(text: string): string | undefined {
  return refuseHeader({ "x-configured": text });
}

function refuseHeader(headers: Readonly<Record<string, string>>): string | undefined {
  try {
    addHeaders([], headers);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  if (isRemoteConnectorError(error, "invalid_url") || isRemoteConnectorError(error, "invalid_header")) {
    return error.details.reason;
  }
  throw error;
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
