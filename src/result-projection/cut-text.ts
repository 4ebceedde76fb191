import { isHighHalf } from "./byte-lengths.js";

/** A text that may have been cut. */
export interface CutText {
  readonly text: string;
  /** Code units of the whole. */
  readonly length: number;
  readonly isCut: boolean;
}

/** The beginning of a text, of at most `maxCharacters` code units; no character is cut in two. */
export function cutText(text: string, maxCharacters: number): CutText {
  const { length } = text;
  if (length <= maxCharacters) return { text, length, isCut: false };
  const end = maxCharacters > 0 && isHighHalf(text.charCodeAt(maxCharacters - 1)) ? maxCharacters - 1 : maxCharacters;
  return { text: text.slice(0, end), length, isCut: true };
}

/** The text with U+FFFD in place of each half of a pair that stands alone: no encoding can say those. */
export function withoutHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
