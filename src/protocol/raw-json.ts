import { RemoteConnectorError } from "../errors.js";

/** A half-open range of bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, by place: its name's quotes, and its value. */
export interface RawMember {
  readonly name: string;
  /** Where the name's opening quote stands. */
  readonly start: number;
  readonly value: ByteRange;
}

/** An object's members in the order of the text, and the object's own range. */
export interface RawObject extends ByteRange {
  readonly members: readonly RawMember[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The members of the object that stands at `start` (after white space), without parsing their values.
 *
 * The bytes must be valid JSON in UTF-8: this finds places in a text that was parsed before, it does not validate.
 * `undefined` when no object stands there. Linear in the object's length.
 */
export function scanObject(json: Uint8Array, start = 0): RawObject | undefined {
  const open = openingBrace(json, start);
  if (open === undefined) return undefined;
  const members: RawMember[] = [];
  let end = open + 1;
  forEachMember(json, open, (nameStart, nameEnd, valueStart, valueEnd) => {
    const name = nameOf(json, nameStart, nameEnd);
    members.push({ name, start: nameStart, value: { start: valueStart, end: valueEnd } });
    end = valueEnd;
  });
  return { members, start: open, end: Math.min(skipSpace(json, end) + 1, json.length) };
}

/**
 * The ranges of the elements of the array that stands at `start` (after white space), in order.
 *
 * The bytes must be valid JSON in UTF-8, as for {@link scanObject}. `undefined` when no array stands there.
 */
export function scanArray(json: Uint8Array, start = 0): readonly ByteRange[] | undefined {
  const open = skipSpace(json, start);
  if (json[open] !== OPEN_BRACKET) return undefined;
  const elements: ByteRange[] = [];
  let at = skipSpace(json, open + 1);
  while (at < json.length && json[at] !== CLOSE_BRACKET) {
    const end = endOfValue(json, at);
    // No value stands here, so that this is no JSON; without this it would be no end either.
    if (end === at) break;
    elements.push({ start: at, end });
    at = skipSpace(json, end);
    if (json[at] === COMMA) at = skipSpace(json, at + 1);
  }
  return elements;
}

/**
 * The byte range of the value at `path`, a chain of member names from the outermost object; of the whole text when it is
 * empty.
 *
 * Of members with one name the last counts, as for `JSON.parse`. `undefined` when there is none. The bytes must be valid
 * JSON in UTF-8, as for {@link scanObject}; a byte order mark in front is skipped. Takes no memory for the members that
 * it passes.
 */
export function memberRange(json: Uint8Array, path: readonly string[]): ByteRange | undefined {
  let range: ByteRange = { start: hasByteOrderMark(json) ? 3 : 0, end: json.length };
  for (const name of path) {
    const member = lastMemberNamed(json, range.start, name);
    if (member === undefined) return undefined;
    range = member;
  }
  return range;
}

/**
 * A JSON value together with the text that it was read from, so that numbers beyond 2^53 and the order of members
 * survive being passed on.
 */
export class RawJson {
  readonly text: string;
  readonly value: unknown;

  /** `value`: what the text was parsed to, where it was. Throws `invalid_argument` when `text`, without it, is no JSON. */
  constructor(text: string, value: unknown = parseText(text)) {
    this.text = text;
    this.value = value;
  }
}

function parseText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // The engine's own error can quote the text, which may be a secret.
    throw new RemoteConnectorError("invalid_argument", {
      message: "The text is no JSON.",
      details: { argument: "text", reason: "not JSON" },
    });
  }
}

/** Tells where each member stands, before anything of it is decoded. No generator: lines of agents and servers go through here. */
function forEachMember(
  json: Uint8Array,
  open: number,
  visit: (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void,
): void {
  let at = skipSpace(json, open + 1);
  while (at < json.length && json[at] !== CLOSE_BRACE) {
    const nameEnd = endOfString(json, at);
    const valueStart = skipSpace(json, skipSpace(json, nameEnd) + 1);
    const valueEnd = endOfValue(json, valueStart);
    visit(at, nameEnd, valueStart, valueEnd);
    at = skipSpace(json, valueEnd);
    if (json[at] === COMMA) at = skipSpace(json, at + 1);
  }
}

function lastMemberNamed(json: Uint8Array, start: number, name: string): ByteRange | undefined {
  const open = openingBrace(json, start);
  if (open === undefined) return undefined;
  const isPlain = PLAIN_NAME.test(name);
  let last: ByteRange | undefined;
  forEachMember(json, open, (nameStart, nameEnd, valueStart, valueEnd) => {
    const isNamed = isPlain ? isPlainName(json, nameStart, nameEnd, name) : nameOf(json, nameStart, nameEnd) === name;
    if (isNamed) last = { start: valueStart, end: valueEnd };
  });
  return last;
}

/** Names whose characters are single bytes, and need no escape. */
const PLAIN_NAME = /^[ !#-[\]-~]*$/;

/** Whether the name between these quotes is `name`, which is a plain one. */
function isPlainName(json: Uint8Array, start: number, end: number, name: string): boolean {
  const length = end - start - 2;
  // An escape takes more bytes than what it stands for.
  if (length > name.length) return hasEscape(json, start, end) && nameOf(json, start, end) === name;
  if (length < name.length) return false;
  for (let i = 0; i < length; i += 1) if (json[start + 1 + i] !== name.charCodeAt(i)) return false;
  return true;
}

function hasEscape(json: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (json[at] === BACKSLASH) return true;
  return false;
}

function openingBrace(json: Uint8Array, start: number): number | undefined {
  const at = skipSpace(json, start);
  return json[at] === OPEN_BRACE ? at : undefined;
}

function hasByteOrderMark(json: Uint8Array): boolean {
  return json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
}

function skipSpace(json: Uint8Array, start: number): number {
  let at = start;
  for (; at < json.length; at += 1) {
    const byte = json[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return at;
}

/** The place behind the closing quote of the string that opens at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return json.length;
}

function endOfValue(json: Uint8Array, start: number): number {
  const first = json[start];
  if (first === QUOTE) return endOfString(json, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfContainer(json, start);
  let at = start;
  for (; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) break;
  }
  return at;
}

/** Counts brackets, not recursion: the depth of a peer's JSON must not be a depth of our stack. */
function endOfContainer(json: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = endOfString(json, at);
      continue;
    }
    at += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return at;
}

function nameOf(json: Uint8Array, start: number, end: number): string {
  const quoted = decoder.decode(json.subarray(start, end));
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  const parsed: unknown = JSON.parse(quoted);
  return String(parsed);
}
