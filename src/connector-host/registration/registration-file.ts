import { isRemoteConnectorError } from "../../errors.js";
import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { Fault } from "../release/index.js";
import { parseRegistration, type Registration } from "./parse-registration.js";
import { type RegistrationPolicy, resolveRegistrationPolicy } from "./registration-policy.js";
import { registrationRefused } from "./registration-refused.js";

/** What a file is said to hold, or why it could not be read. */
export type StoredFile =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly failure: string };

/** A file that is no registration. The others are not touched by it. */
export interface StorageIssue extends Fault {
  readonly file: string;
}

export interface LoadedRegistrations {
  /** By slug, in code units. */
  readonly registrations: readonly Registration[];
  /** By file, in code units. */
  readonly issues: readonly StorageIssue[];
}

const FORMAT_VERSION = 1;
/** More than the largest registration takes. */
const MAX_FILE_BYTES = 12 * 1024 * 1024;

/** The name of the file in which a registration is kept. */
export function registrationFileName({ id }: Pick<Registration, "id">): string {
  return `${id}.json`;
}

/** The text of a registration's file: the same registration always gives the same text, and reading it gives it back. */
export function writeRegistration(registration: Registration): string {
  const { id, slug, displayName, settings, deadlines, state, capabilities, newTools, permissions, descriptions } =
    registration;
  const { endpoint, headers, protocol, oauth } = settings;
  const members = {
    formatVersion: FORMAT_VERSION,
    id,
    slug,
    displayName,
    settings: { endpoint, headers, protocol, oauth },
    deadlines,
    state,
    capabilities,
    newTools,
    permissions,
    descriptions,
  };
  return `${JSON.stringify(members, null, 2)}\n`;
}

/**
 * Reads the text of a registration's file.
 *
 * Throws `invalid_registration`: the member is `""` for a text that is no JSON object or too large, and `formatVersion` for one of
 * another format. `invalid_options` for the policy.
 */
export function readRegistration(text: string, policy: RegistrationPolicy = {}): Registration {
  const value = Buffer.byteLength(text, "utf8") > MAX_FILE_BYTES ? undefined : parseJson(text);
  if (!isJsonObject(value))
    throw registrationRefused("file of the registration", { member: "", reason: "no JSON object of at most 12 MiB" });
  const { formatVersion, ...registration } = value;
  if (formatVersion !== FORMAT_VERSION) {
    throw registrationRefused("file of the registration", {
      member: "formatVersion",
      reason: `not ${String(FORMAT_VERSION)}, the only one that is known`,
    });
  }
  return parseRegistration(registration, policy);
}

/**
 * Reads all files of registrations. One that can't be read, whose name is not that of its registration, or whose slug another
 * has too, is an issue; of those that share a slug each one is, since nothing says which is right. The rest load.
 *
 * Throws `invalid_options` for the policy, and nothing else.
 */
export function loadRegistrations(files: Iterable<StoredFile>, policy: RegistrationPolicy = {}): LoadedRegistrations {
  resolveRegistrationPolicy(policy);
  const issues: StorageIssue[] = [];
  const bySlug = new Map<string, { readonly file: string; readonly registration: Registration }[]>();
  for (const stored of files) {
    const { file } = stored;
    const read = readStored(stored, policy);
    if ("reason" in read) issues.push({ file, ...read });
    else bySlug.set(read.slug, [...(bySlug.get(read.slug) ?? []), { file, registration: read }]);
  }
  const registrations: Registration[] = [];
  for (const [slug, claimants] of bySlug) {
    if (claimants.length === 1) registrations.push(...claimants.map(({ registration }) => registration));
    else
      issues.push(...claimants.map(({ file }) => ({ file, member: "slug", reason: `${slug} is in other files too` })));
  }
  registrations.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  issues.sort((a, b) => (a.file < b.file ? -1 : 1));
  return { registrations, issues };
}

function readStored(stored: StoredFile, policy: RegistrationPolicy): Registration | Fault {
  if ("failure" in stored) return { member: "", reason: stored.failure };
  try {
    const registration = readRegistration(stored.text, policy);
    const name = stored.file.split(/[\\/]/).at(-1);
    return name === registrationFileName(registration)
      ? registration
      : { member: "id", reason: "not that of the file's name" };
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_registration")) throw error;
    return { member: error.details.member, reason: error.details.reason };
  }
}
