import { isJsonObject, plainText } from "../protocol/index.js";
import { decodedLength, encodedLength } from "./byte-lengths.js";
import { withoutHalves } from "./cut-text.js";
import { jsonText } from "./json-text.js";

/** Content that a model is not shown as it is. */
export interface ReferredContent {
  /**
   * What it is: a kind of content block (`resource` is an embedded one, `link` points at one), `text` or `structured` for the whole of
   * what was cut, `unknown` for a block of a kind that this version does not know, or that lacks what its kind needs.
   */
  readonly kind: "image" | "audio" | "resource" | "link" | "text" | "structured" | "unknown";
  /** As the server says it, not checked. */
  readonly mimeType: string | undefined;
  /** How long the content is when decoded; of a link what the server says. `undefined`: nobody says. */
  readonly bytes: number | undefined;
  readonly uri: string | undefined;
  /** A name for people; of an unknown block its kind. */
  readonly name: string | undefined;
  /** The content, not decoded: nothing of a link, JSON of an unknown block and of structured content. */
  readonly data: { readonly encoding: "base64" | "text" | "json"; readonly text: string } | undefined;
}

/**
 * Keeps content where its host wants it, and gives the text by which a model refers to it; `undefined` leaves it at a
 * description. It is called in the order of the result and must answer at once: what takes longer goes on behind the reference.
 */
export type ReferSink = (content: ReferredContent) => string | undefined;

/** The text of a block that is shown as it is; `undefined` for every other. */
export function shownTextOf(block: unknown): string | undefined {
  if (!isJsonObject(block) || block["type"] !== "text") return undefined;
  return textIn(block["text"]);
}

/** What a block that is not shown refers to. Total: a block that makes no sense is an unknown one. Pure. */
export function classifyContent(block: unknown): ReferredContent {
  if (!isJsonObject(block)) return unknownContent(block);
  const { type } = block;
  if (type === "image" || type === "audio") return mediaContent(type, block) ?? unknownContent(block);
  if (type === "resource") return embeddedContent(block["resource"]) ?? unknownContent(block);
  if (type === "resource_link") return linkContent(block) ?? unknownContent(block);
  return unknownContent(block);
}

/** What is shown of content that nobody refers to: on one line, bounded, without its data. */
export function describeContent({ kind, mimeType, bytes, uri, name }: ReferredContent): string {
  const size = bytes === undefined ? "" : `, ${String(bytes)} bytes`;
  if (kind === "unknown") {
    const called = name === undefined ? "without a kind" : `of the kind ${quoted(name)}`;
    return `[content ${called}${size}, not shown]`;
  }
  const named = name === undefined ? "" : ` ${quoted(name)}`;
  const typed = mimeType === undefined ? "" : `, ${quotedIfOdd(plainText(mimeType, MIME_TYPE))}`;
  const placed = uri === undefined ? "" : `, ${quotedIfOdd(shown(uri, URI))}`;
  return `[${kind}${named}${typed}${size}${placed}]`;
}

const MIME_TYPE = 128;
const NAME = 128;
const URI = 1_024;
const ODD = 512;

/** A name can hold what looks like the end of a description. */
function quoted(name: string): string {
  return inQuotes(shown(name, NAME));
}

/** What is to be expected stands for itself. Of all else there is less: an escape takes the place of two characters. */
function quotedIfOdd(text: string): string {
  return /^[^\s"\\[\]]*$/.test(text) ? text : inQuotes(shown(text, ODD));
}

function inQuotes(text: string): string {
  return JSON.stringify(withoutHalves(text));
}

function shown(text: string, maxCharacters: number): string {
  const plain = plainText(text, maxCharacters + 1);
  return plain.length > maxCharacters ? `${plain.slice(0, maxCharacters)}…` : plain;
}

type Block = Readonly<Record<string, unknown>>;

function mediaContent(kind: "image" | "audio", block: Block): ReferredContent | undefined {
  const text = textIn(block["data"]);
  if (text === undefined) return undefined;
  const mimeType = textIn(block["mimeType"]);
  const data = { encoding: "base64", text } as const;
  return { kind, mimeType, bytes: decodedLength(text), uri: undefined, name: undefined, data };
}

function embeddedContent(resource: unknown): ReferredContent | undefined {
  if (!isJsonObject(resource)) return undefined;
  const text = textIn(resource["text"]);
  const blob = textIn(resource["blob"]);
  const common = {
    kind: "resource",
    mimeType: textIn(resource["mimeType"]),
    uri: textIn(resource["uri"]),
    name: undefined,
  } as const;
  if (text !== undefined) return { ...common, bytes: encodedLength(text), data: { encoding: "text", text } };
  if (blob === undefined) return undefined;
  return { ...common, bytes: decodedLength(blob), data: { encoding: "base64", text: blob } };
}

function linkContent(block: Block): ReferredContent | undefined {
  const uri = textIn(block["uri"]);
  if (uri === undefined) return undefined;
  const { size } = block;
  return {
    kind: "link",
    mimeType: textIn(block["mimeType"]),
    bytes: typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : undefined,
    uri,
    name: textIn(block["title"]) ?? textIn(block["name"]),
    data: undefined,
  };
}

function unknownContent(block: unknown): ReferredContent {
  const text = jsonText(block);
  return {
    kind: "unknown",
    mimeType: undefined,
    bytes: text === undefined ? undefined : encodedLength(text),
    uri: undefined,
    name: isJsonObject(block) ? textIn(block["type"]) : undefined,
    data: text === undefined ? undefined : { encoding: "json", text },
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
