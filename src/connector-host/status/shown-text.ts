/**
 * Control and format characters, halves of pairs, line and paragraph separators, and any space. Rows have keys and words in
 * them: neither has a use for invisible characters.
 */
const UNSHOWABLE = /[\p{C}\p{Z}]+/gu;

/** Text from elsewhere as it may be shown: on one line, of visible characters and single spaces, and cut where it is too long. */
export function shownText(text: string, maxCharacters: number): string {
  // Cut first: a megabyte of them is not worth looking at.
  const looked = text.slice(0, maxCharacters * 4);
  const clean = looked.replace(UNSHOWABLE, " ").trim();
  return cutText(looked.length < text.length ? `${clean}…` : clean, maxCharacters);
}

/** Text of at most `maxCharacters` code points, with `…` as the last where something is missing. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const characters = Array.from(text);
  return characters.length <= maxCharacters
    ? text
    : `${characters
        .slice(0, maxCharacters - 1)
        .join("")
        .trimEnd()}…`;
}
