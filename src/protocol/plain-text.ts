// oxlint-disable-next-line no-control-regex -- control characters are what is taken out
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/**
 * A peer's text as it may be shown: on one line, without control characters and marks that change its direction, and no
 * longer than `maxCharacters`.
 */
export function plainText(text: string, maxCharacters: number): string {
  // Cut first: a megabyte of control characters is not worth looking at.
  return text
    .slice(0, maxCharacters * 4)
    .replace(UNSHOWABLE, " ")
    .slice(0, maxCharacters);
}
