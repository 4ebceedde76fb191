import { isRemoteConnectorError } from "../../errors.js";
import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { isJsonObject } from "../../protocol/index.js";
import {
  parseRegistrationRequest,
  parseStdioConnector,
  type RegistrationPolicy,
  resolveRegistrationPolicy,
} from "../registration/index.js";
import type { Entry } from "./entry-values.js";
import { findServers } from "./find-servers.js";
import { ImportReport, shownPlace } from "./import-report.js";
import type { ImportedServer, ImportResult } from "./import-result.js";
import { type EntryDraft, readEntry } from "./read-entry.js";
import { slugOfName } from "./server-slug.js";

export interface ImportOptions {
  /** The keys of all connectors that are there, of any kind. A server that would get one of them is refused. */
  readonly taken?: Iterable<string> | undefined;
  /** Slugs of one's own choice, by the name of the server in the file. Default: made from the name. */
  readonly slugs?: ReadonlyMap<string, string> | undefined;
  /** Permits plain http to hosts other than loopback. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
}

/** Gives what a text holds, or tells the report why not. */
export type ReadConfigText = (text: string, report: ImportReport) => unknown;

/**
 * Reads the servers in the configuration of another program: an object `mcpServers` (Claude, Cursor, Windsurf, Cline, Gemini) or
 * `servers` (VS Code, also inside `mcp`), in JSON with comments. Everything else in the file is none of its business. At most 1 MiB
 * and 256 servers.
 *
 * All or nothing: one fault, and the result only says what is refused and why. Nothing is done either way: the result is what a
 * preview shows. All that it would make is paused, and no tool of it permitted. Credentials in the file come back beside the
 * definitions, which refer to them.
 *
 * Rejects with `invalid_options`, and with nothing else.
 */
export async function importServers(text: string, options: ImportOptions = {}): Promise<ImportResult> {
  const { readConfigText } = await import("./config-text/index.js");
  return readServers(text, options, readConfigText);
}

/** {@link importServers}, given what reads the text. Throws `invalid_options`. */
export function readServers(text: string, options: ImportOptions, readConfigText: ReadConfigText): ImportResult {
  refuseUnknownOptions(options, ["taken", "slugs", "allowInsecureHttp"]);
  const { taken = [], slugs = new Map<string, string>(), allowInsecureHttp } = options;
  const policy = resolveRegistrationPolicy({ allowInsecureHttp });
  if (!(slugs instanceof Map)) refuseOption("slugs", "must be a Map");
  // A text can be iterated too, by its characters.
  if (typeof taken === "string" || !(Symbol.iterator in Object(taken))) refuseOption("taken", "must be iterable");
  const report = new ImportReport();
  const found = findServers(readConfigText(text, report), report);
  const owners = new Map([...taken].map((key) => [key, "a connector that is there"]));
  const servers: ImportedServer[] = [];
  for (const { name, value, ...rest } of found) {
    const entry: Entry = { ...rest, slug: slugs.get(name) ?? slugOfName(name), report };
    const owner = owners.get(entry.slug);
    if (owner !== undefined) report.refuse(entry.place, `would get the key ${entry.slug}, which ${owner} has`);
    owners.set(entry.slug, shownPlace(entry.place));
    const draft = readEntry(value, entry);
    if (draft === undefined) continue;
    const server = define(draft, { entry, displayName: name.trim(), isDisabled: isSwitchedOff(value), policy });
    if (server !== undefined) servers.push(server);
  }
  const { refusals, refusalCount, secrets, missing, notes } = report;
  if (refusalCount > 0) return { kind: "refused", refusals, refusalCount };
  return { kind: "accepted", servers, secrets, missing, notes };
}

interface Defining {
  readonly entry: Entry;
  readonly displayName: string;
  readonly isDisabled: boolean;
  readonly policy: RegistrationPolicy;
}

/** Has the definition checked. `undefined` when the report says why it is refused. */
function define(draft: EntryDraft, { entry, displayName, isDisabled, policy }: Defining): ImportedServer | undefined {
  const { place, slug, report } = entry;
  const member = shownPlace(place);
  try {
    if (draft.kind === "stdio") {
      const connector = parseStdioConnector({ key: slug, displayName, ...draft.program });
      return { kind: "stdio", member, isDisabled, connector };
    }
    const request = parseRegistrationRequest({ slug, displayName, settings: draft.settings }, policy);
    return { kind: "registration", member, isDisabled, request };
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_registration")) throw error;
    report.refuse([...place, ...inEntry(error.details.member, draft)], error.details.reason);
    return undefined;
  }
}

/** Where in its entry a member of the definition stood; a key and a name are what the entry itself is called. */
function inEntry(member: string, draft: EntryDraft): readonly string[] {
  if (member === "" || member === "key" || member === "slug" || member === "displayName") return [];
  if (draft.kind === "stdio") return [member];
  const setting = member.replace(/^settings\./, "");
  return [setting === "endpoint" ? draft.addressMember : setting];
}

function isSwitchedOff(value: unknown): boolean {
  return isJsonObject(value) && (value["disabled"] === true || value["enabled"] === false);
}
