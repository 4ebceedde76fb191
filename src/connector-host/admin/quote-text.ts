/**
 * What a terminal could take for anything but a character to be shown, what turns text round, what is shown as nothing, and spaces that
 * are others than they seem.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/**
 * A text of somebody else's, as a person may be shown it: in quotes, in one line, with what can't be seen written out, and cut after
 * `maxCharacters`. Pure.
 */
export function quoteText(text: string, maxCharacters = 200): string {
  const kept = text.slice(0, maxCharacters);
  const quoted = plainText(JSON.stringify(kept));
  const left = text.length - kept.length;
  return left === 0 ? quoted : `${quoted} and ${String(left)} characters more`;
}

/** A text in one line, with what can't be seen written out. Pure. */
export function plainText(text: string): string {
  return text.replaceAll(UNSEEN, writtenOut);
}

function writtenOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
