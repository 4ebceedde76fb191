import { type CallToolResult, memberRange, parseJson } from "../protocol/index.js";
import { encodedLength } from "./byte-lengths.js";
import { cutText, withoutHalves } from "./cut-text.js";
import { jsonEqual } from "./json-equal.js";
import { jsonText } from "./json-text.js";
import { type ProjectionConfig, type ProjectionOptions, resolveProjectionOptions } from "./projection-options.js";
import { classifyContent, describeContent, type ReferredContent, shownTextOf } from "./referred-content.js";

/**
 * A piece of what a model reads: text blocks that followed each other, joined by line breaks; structured content as JSON; a
 * reference in place of content; a note of what is not shown.
 */
export interface ProjectedPart {
  readonly kind: "text" | "structured" | "reference" | "note";
  readonly text: string;
}

/** What a model reads of a result. */
export interface ProjectedResult {
  /** In the order of the result, structured content last. */
  readonly parts: readonly ProjectedPart[];
  /** All parts, a line break between them. */
  readonly text: string;
  /** Whether the tool itself failed. */
  readonly isError: boolean;
  /** Whether something is shown in part, or only counted. */
  readonly isCut: boolean;
  /** The result itself, as it was given. */
  readonly result: CallToolResult;
}

/**
 * What a model reads of a tool's result: its text, its structured content as JSON and without a text block that says the same,
 * references to everything else. Bounded in every part, the same for the same result, and without anything that no encoding can say.
 * Never changes the result, which stays beside it. Pure, but for the `refer` that it is given.
 *
 * Structured content is any JSON value: `null`, `0` and `""` are shown. What is nested too deep to be written is a note.
 *
 * Throws `invalid_options`, and what `refer` throws. Source: 2026-07-28, Tools, Tool Result and Structured Content.
 */
export function projectToolResult(result: CallToolResult, options: ProjectionOptions = {}): ProjectedResult {
  const projection = new Projection(resolveProjectionOptions(options));
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? content : [];
  const isStructured = structuredContent !== undefined;
  let run: string[] = [];
  const endRun = (): void => {
    if (run.length > 0) projection.addText("text", run.join("\n"));
    run = [];
  };
  for (const block of blocks) {
    const text = shownTextOf(block);
    if (text === undefined) {
      endRun();
      projection.addContent(classifyContent(block));
    } else if (!isStructured || !saysTheSame(text, structuredContent)) {
      run.push(text);
    }
  }
  endRun();
  if (isStructured) projection.addStructured(structuredContent);
  return projection.end(result);
}

/** The parts so far, and what may still be shown. */
class Projection {
  readonly #config: ProjectionConfig;
  readonly #parts: ProjectedPart[] = [];
  /** Code units that text and structured content may still take. */
  #characters: number;
  #references = 0;
  #isCut = false;

  constructor(config: ProjectionConfig) {
    this.#config = config;
    this.#characters = config.maxCharacters;
  }

  addText(kind: "text" | "structured", whole: string): void {
    const { text, length, isCut } = cutText(whole, this.#characters);
    this.#characters -= text.length;
    if (text !== "" || !isCut) this.#add(kind, text);
    if (!isCut) return;
    this.#isCut = true;
    // Of those that are shown in part there are few; of the others there can be as many as the server likes.
    if (text === "" && !this.#mayRefer()) return;
    const reference = this.#config.refer(wholeOf(kind, whole));
    const rest = reference === undefined ? "" : `; the whole: ${reference}`;
    this.#add("note", `[cut: ${String(text.length)} of ${String(length)} characters shown${rest}]`);
  }

  addStructured(value: unknown): void {
    const whole = rawStructured(this.#config.raw, value) ?? jsonText(value);
    if (whole === undefined) {
      this.#isCut = true;
      this.#add("note", "[structured content that is nested too deep to be shown]");
    } else {
      this.addText("structured", whole);
    }
  }

  addContent(content: ReferredContent): void {
    if (!this.#mayRefer()) return;
    const reference = this.#config.refer(content);
    if (reference !== undefined) this.#add("reference", reference);
    else this.#add(content.kind === "unknown" ? "note" : "reference", describeContent(content));
  }

  end(result: CallToolResult): ProjectedResult {
    const more = this.#references - this.#config.maxReferences;
    if (more > 0) this.#add("note", `[${String(more)} more, not shown]`);
    return {
      parts: this.#parts,
      text: this.#parts.map(({ text }) => text).join("\n"),
      isError: result.isError === true,
      isCut: this.#isCut || more > 0,
      result,
    };
  }

  /** Counts one more reference or note; whether it is shown. */
  #mayRefer(): boolean {
    this.#references += 1;
    return this.#references <= this.#config.maxReferences;
  }

  #add(kind: ProjectedPart["kind"], text: string): void {
    this.#parts.push({ kind, text: withoutHalves(text) });
  }
}

function wholeOf(kind: "text" | "structured", text: string): ReferredContent {
  const encoding = kind === "text" ? "text" : "json";
  const mimeType = kind === "text" ? "text/plain" : "application/json";
  const data = { encoding, text } as const;
  return { kind, mimeType, bytes: encodedLength(text), uri: undefined, name: undefined, data };
}

/** Whether a text block repeats the structured content, as servers do for clients that know no other. */
function saysTheSame(text: string, structured: unknown): boolean {
  const parsed = parseJson(text);
  return parsed !== undefined && jsonEqual(parsed, structured);
}

/** Structured content as its bytes came; `undefined` without them, and when they are those of another result. */
function rawStructured(raw: Uint8Array | undefined, value: unknown): string | undefined {
  const range = raw === undefined ? undefined : memberRange(raw, ["structuredContent"]);
  if (raw === undefined || range === undefined) return undefined;
  const text = new TextDecoder().decode(raw.subarray(range.start, range.end));
  return saysTheSame(text, value) ? text : undefined;
}
