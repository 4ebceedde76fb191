import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { type ConfiguredValue, namesCredential, refuseHeaderText, tableFrom } from "../registration/index.js";
import { ADDRESS_MEMBERS, classifyEntryMember, TRANSPORT_MEMBERS, transportOf } from "./entry-members.js";
import { type Entry, headerHolder, type Holder, readValue, variableHolder } from "./entry-values.js";
import { takeUserinfo } from "./take-userinfo.js";

/** What an entry says, in the form of a definition that is still to be checked. */
export type EntryDraft =
  | {
      readonly kind: "http";
      readonly settings: object;
      /** The member of the entry that held the address. */
      readonly addressMember: string;
    }
  | { readonly kind: "stdio"; readonly program: object };

/** Reads one entry. `undefined` when the report says why it is refused. */
export function readEntry(value: unknown, entry: Entry): EntryDraft | undefined {
  const { place, report } = entry;
  if (!isJsonObject(value)) {
    report.refuse(place, "must be an object");
    return undefined;
  }
  const before = report.refusalCount;
  const kind = kindOf(value, entry);
  if (kind === undefined) return undefined;
  for (const name of Object.keys(value)) {
    const verdict = classifyEntryMember(name, kind === "stdio" ? "stdio" : "http");
    if (verdict.kind === "left_out") report.note("left_out", [...place, name], verdict.reason);
    else if (verdict.kind === "refused") report.refuse([...place, name], verdict.reason);
  }
  const draft = kind === "stdio" ? readProgram(value, entry) : readSettings(value, kind, entry);
  return report.refusalCount === before ? draft : undefined;
}

/** Which transport the entry means; it has to say so in one way only. */
function kindOf(value: JsonObject, { place, report }: Entry): "stdio" | "http" | "sse" | undefined {
  const addresses = ADDRESS_MEMBERS.filter((name) => name in value);
  const [address, second] = addresses;
  if (second !== undefined) {
    report.refuse([...place, second], `is an address beside ${String(address)}`);
    return undefined;
  }
  if (address === undefined && !("command" in value)) {
    report.refuse(place, "has neither a command nor a url");
    return undefined;
  }
  if (address !== undefined && "command" in value) {
    report.refuse(place, `has a command and a ${address}`);
    return undefined;
  }
  let said: "stdio" | "http" | "sse" | undefined;
  for (const name of TRANSPORT_MEMBERS) {
    if (!(name in value)) continue;
    const transport = transportOf(value[name]);
    const fits = (transport === "stdio") === (address === undefined) && (said === undefined || said === transport);
    if (transport === undefined || !fits) {
      report.refuse(
        [...place, name],
        transport === undefined ? "no transport that is known" : "fits nothing else here",
      );
      return undefined;
    }
    said = transport;
  }
  return said ?? (address === undefined ? "stdio" : "http");
}

function readSettings(value: JsonObject, kind: "http" | "sse", entry: Entry): EntryDraft | undefined {
  const { place, report } = entry;
  const address = ADDRESS_MEMBERS.find((name) => name in value) ?? "url";
  const url = value[address];
  if (typeof url === "string" && url.includes("${")) {
    report.refuse([...place, address], "holds a placeholder: where a server is must be known");
    return undefined;
  }
  const headers = readHeaders(value["headers"], entry);
  const { endpoint, userinfo } = takeUserinfo(url);
  if (userinfo?.kind === "refused") report.refuse([...place, address], userinfo.reason);
  if (userinfo?.kind === "basic") {
    if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
      report.refuse([...place, address], "holds userinfo beside an Authorization header");
    }
    const name = `${entry.slug}/header/authorization`;
    report.keep(name, [...place, address], userinfo.credentials);
    headers["Authorization"] = ["Basic ", { secret: name }];
  }
  noteQuery(endpoint, [...place, address], entry);
  const protocol = kind === "sse" ? "sse" : "auto";
  const settings = { endpoint, headers: tableFrom(Object.entries(headers)), protocol };
  return { kind: "http", settings, addressMember: address };
}

function readHeaders(value: unknown, entry: Entry): Record<string, ConfiguredValue> {
  const headers: Record<string, ConfiguredValue> = Object.create(null);
  for (const [name, text] of membersOf(value, "headers", entry)) {
    const place = [...entry.place, "headers", name];
    const reason = typeof text === "string" ? refuseHeaderText(text) : "must be a text";
    if (reason !== undefined) entry.report.refuse(place, reason);
    else if (typeof text === "string") headers[name] = readValue(text, headerHolder(name, place), entry) ?? "";
  }
  return headers;
}

function readProgram(value: JsonObject, entry: Entry): EntryDraft {
  const { place, report } = entry;
  const { command, cwd } = value;
  for (const [name, text] of Object.entries({ command, cwd })) {
    if (typeof text === "string" && text.includes("${")) report.refuse([...place, name], "holds a placeholder");
  }
  const env: Record<string, ConfiguredValue | null> = Object.create(null);
  for (const [name, text] of membersOf(value["env"], "env", entry)) {
    const where = [...place, "env", name];
    if (text === null) env[name] = null;
    else if (typeof text === "number" && Number.isSafeInteger(text)) env[name] = String(text);
    else if (typeof text !== "string")
      report.refuse(where, "must be a text, null, or a whole number that keeps its digits");
    else env[name] = readValue(text, variableHolder(name, where), entry) ?? "";
  }
  const program = { command, args: readArguments(value["args"], entry), env: tableFrom(Object.entries(env)) };
  return { kind: "stdio", program: cwd === undefined ? program : { ...program, cwd } };
}

function readArguments(value: unknown, entry: Entry): readonly ConfiguredValue[] {
  const place = [...entry.place, "args"];
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    entry.report.refuse(place, "must be an array");
    return [];
  }
  return value.map((text: unknown, index) => {
    const where = [...place, index];
    if (typeof text !== "string") {
      entry.report.refuse(where, "must be a text");
      return "";
    }
    const holder: Holder = { place: where, path: `args/${String(index)}`, isCredential: false };
    const read = readValue(text, holder, entry) ?? "";
    if (read === text && showsCredential(text, value[index + 1])) {
      entry.report.note("may_show_credential", where, "looks like a credential, which other programs can see there");
    }
    return read;
  });
}

/** `--token=…`, `TOKEN=…`, `Token: …`, `--token` before a value of its own, or an address with one in it. */
function showsCredential(text: string, next: unknown): boolean {
  const [, dashes, name, value] = /^(--?)?([\w-]+)(?:[=:](.+))?$/s.exec(text) ?? [];
  if (name === undefined || !namesCredential(name)) return hasPassword(text) || hasCredentialQuery(text);
  return value !== undefined || (dashes !== undefined && typeof next === "string" && !/^-|\$/.test(next));
}

function noteQuery(endpoint: unknown, place: Holder["place"], { report }: Entry): void {
  if (typeof endpoint === "string" && hasCredentialQuery(endpoint)) {
    report.note("may_show_credential", place, "its query looks like a credential, and stays in the definition");
  }
}

function hasPassword(address: string): boolean {
  return URL.canParse(address) && new URL(address).password !== "";
}

function hasCredentialQuery(address: string): boolean {
  return URL.canParse(address) && [...new URL(address).searchParams.keys()].some(namesCredential);
}

function membersOf(value: unknown, name: string, entry: Entry): readonly (readonly [string, unknown])[] {
  if (value === undefined) return [];
  if (isJsonObject(value)) return Object.entries(value);
  entry.report.refuse([...entry.place, name], "must be an object");
  return [];
}
