import { type ConfiguredValue, namesCredential, type ValuePart } from "../registration/index.js";
import type { ImportReport, Place } from "./import-report.js";
import { type Dialect, joinParts, type PlaceholderPart, readPlaceholders } from "./read-placeholders.js";

/** What the file says of an input. */
export interface DeclaredInput {
  readonly id: string;
  readonly description?: string | undefined;
}

/** One entry of the file while it is read. */
export interface Entry {
  readonly place: Place;
  readonly slug: string;
  readonly dialect: Dialect;
  readonly inputs: ReadonlyMap<string, DeclaredInput>;
  readonly report: ImportReport;
}

/** Where a header, a variable or an argument is kept, and whether its name says that it is a credential. */
export interface Holder {
  readonly place: Place;
  /** Its secret's name after the slug's part; no slug and no such name holds a `/`. */
  readonly path: string;
  readonly isCredential: boolean;
}

/** A header, as what holds a value. */
export function headerHolder(name: string, place: Place): Holder {
  return { place, path: `header/${name.toLowerCase()}`, isCredential: namesCredential(name) };
}

/** A variable, as what holds a value. */
export function variableHolder(name: string, place: Place): Holder {
  return { place, path: `env/${name}`, isCredential: namesCredential(name) };
}

/**
 * Reads a text of the file: its placeholders become references, and a credential that stands there itself becomes a secret beside
 * the definition. `undefined` when the report says why it is refused.
 */
export function readValue(text: string, holder: Holder, entry: Entry): ConfiguredValue | undefined {
  const { place, path, isCredential } = holder;
  const { report, slug } = entry;
  if (/\0|\p{Surrogate}/u.test(text)) {
    report.refuse(place, "must be well-formed text without NUL");
    return undefined;
  }
  const verdict = readPlaceholders(text, entry.dialect);
  if (verdict.kind === "refused") {
    report.refuse(place, verdict.reason);
    return undefined;
  }
  if (verdict.kind === "variable") {
    report.note("read_as_variable", place, `$${verdict.name} was taken for the variable of that name`);
    return { env: verdict.name };
  }
  if (isCredential && text !== "" && verdict.parts.every((part) => typeof part === "string")) {
    const name = `${slug}/${path}`;
    report.keep(name, place, text);
    return { secret: name };
  }
  if (isCredential && verdict.parts.some(hasDefault)) {
    report.refuse(place, "gives a credential a default, which would be kept in the definition");
    return undefined;
  }
  const parts = verdict.parts.map((part) => resolveInput(part, place, entry));
  return parts.every(isPart) ? joinParts(parts) : undefined;
}

function resolveInput(part: PlaceholderPart, place: Place, entry: Entry): ValuePart | undefined {
  if (typeof part === "string" || "env" in part) return part;
  const input = entry.inputs.get(part.input);
  if (input === undefined) {
    entry.report.refuse(place, `asks for the input ${part.input}, which the file does not declare`);
    return undefined;
  }
  // For each server by itself: the next file's input of this id is not this one's.
  const name = `${entry.slug}/input/${input.id}`;
  entry.report.ask(name, place, input);
  return { secret: name };
}

function hasDefault(part: PlaceholderPart): boolean {
  return typeof part === "object" && "default" in part && part.default !== "";
}

function isPart(part: ValuePart | undefined): part is ValuePart {
  return part !== undefined;
}
