import semver from "semver";
import { z } from "zod";
import { MODERN_REVISIONS } from "../../protocol/index.js";
import { isConnectorKey } from "./connector-key.js";

/** Safe in a header as it is, since the version travels in one. */
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,126}[0-9A-Za-z])?$/;
const REFERENCE = /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/;
const CONTRACT_HASH = /^sha256:[a-f0-9]{64}$/;
const HOST_VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z.-]+)?$/;
const ALIAS = /^(?! )[\p{L}\p{M}\p{N} _.+&/()-]{1,48}(?<! )$/u;
const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Cc}/u;
const ICON_URL_BYTES = 2_048;

/** Text for people. Well-formed, so that it has one canonical form. */
function text(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((value) => !LONE_SURROGATE.test(value), "must be well-formed text");
}

const reference = z.string().max(256).regex(REFERENCE, "must be lower-case words joined by dots or hyphens");

const binding = {
  protocolVersion: z.enum(MODERN_REVISIONS),
  bindingRef: reference,
  contractVersion: z.int().min(1),
  bindingContractHash: z.string().regex(CONTRACT_HASH, "must be sha256: and 64 lower-case hex digits"),
};

const authorization = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none"), profile: reference.optional() }).readonly(),
  z.strictObject({ kind: z.literal("oauth2"), profile: reference }).readonly(),
  z.strictObject({ kind: z.literal("api_key"), profile: reference }).readonly(),
]);

const display = z
  .strictObject({
    name: text(128).refine((value) => !CONTROL.test(value), "must be one line without control characters"),
    description: text(4_096).optional(),
    iconUrl: z.string().refine(isIconUrl, "must be an https URL without userinfo, of at most 2048 bytes").optional(),
  })
  .readonly();

const alias = z
  .string()
  .regex(ALIAS, "must be 1 to 48 letters, digits, spaces and -_.+&/(), without spaces at its ends");

const routing = z
  .strictObject({
    aliases: z.array(alias).min(1).max(12).refine(areDistinct, "must differ by more than case").readonly(),
  })
  .readonly();

/** The shape of a release. Every object is strict: nothing rides along that this host would have to ignore. */
export const releaseSchema = z
  .strictObject({
    connectorId: z.string().refine(isConnectorKey, "must be a connector key"),
    version: z.string().regex(VERSION, "must be a version"),
    runtime: z.strictObject({ kind: z.literal("remote_mcp"), ...binding }).readonly(),
    authorization,
    requiredCapabilities: z.tuple([z.literal("tools")]).readonly(),
    minimumHostVersion: z.string().max(256).refine(isHostVersion, "must be a semantic version"),
    display,
    routing: routing.optional(),
  })
  .readonly();

/** By its text, and by what compares it: that knows no number beyond 2^53, nor one that begins with a zero. */
function isHostVersion(value: string): boolean {
  return HOST_VERSION.test(value) && semver.valid(value) !== null;
}

function isIconUrl(value: string): boolean {
  if (!URL.canParse(value) || Buffer.byteLength(value, "utf8") > ICON_URL_BYTES) return false;
  const url = new URL(value);
  return url.protocol === "https:" && url.username === "" && url.password === "";
}

function areDistinct(aliases: readonly string[]): boolean {
  return new Set(aliases.map((value) => value.toLowerCase())).size === aliases.length;
}
