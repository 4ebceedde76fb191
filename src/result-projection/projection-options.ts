import { countOption, functionOption, refuseOption, refuseUnknownOptions } from "../options.js";
import type { ReferSink } from "./referred-content.js";

/** How a result is projected. */
export interface ProjectionOptions {
  /**
   * How much of a result's text and structured content is shown, in UTF-16 code units and in all. What is longer is cut, and says
   * so. References and notes come on top; a description has at most 2,000 of its own. Default 50,000.
   */
  readonly maxCharacters?: number | undefined;
  /** How many references, and notes of what nothing is shown of, there are; the others are counted. Default 64. */
  readonly maxReferences?: number | undefined;
  /**
   * Is given, in order, each content that is not shown as it is: images, audio, resources, links, kinds that are not known, and the whole
   * of what was cut. It gives what the model reads in its place; `undefined` leaves it at a description. What it throws is thrown
   * on. Default: a description of everything.
   */
  readonly refer?: ReferSink | undefined;
  /**
   * The result as its bytes came (`raw` of a call with `detail`): structured content is then shown with all digits of its numbers.
   * Bytes of another result are ignored.
   */
  readonly raw?: Uint8Array | undefined;
}

/** {@link ProjectionOptions}, complete. */
export interface ProjectionConfig {
  readonly maxCharacters: number;
  readonly maxReferences: number;
  readonly refer: ReferSink;
  readonly raw: Uint8Array | undefined;
}

const KNOWN = ["maxCharacters", "maxReferences", "refer", "raw"];

/** Throws `invalid_options`. */
export function resolveProjectionOptions(options: ProjectionOptions): ProjectionConfig {
  refuseUnknownOptions(options, KNOWN);
  const { raw } = options;
  if (raw !== undefined && !(raw instanceof Uint8Array)) refuseOption("raw", "must be bytes");
  return {
    maxCharacters: countOption("maxCharacters", options.maxCharacters, 50_000, 0),
    maxReferences: countOption("maxReferences", options.maxReferences, 64, 0),
    refer: functionOption("refer", options.refer, () => undefined),
    raw,
  };
}
