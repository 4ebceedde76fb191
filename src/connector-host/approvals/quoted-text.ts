/**
 * What can't be seen, or changes how what is around it is shown; of spaces, all but the plain one, and of marks those that would be put on a
 * quote, or pile up.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|(?<=^|["\\]|\p{M}{3})\p{M}/gu;
const QUOTE_OR_BACKSLASH = /["\\]/g;
/** The strings of a JSON text, which are to stay, and the spaces between everything else. */
const JSON_SPACE = /"[^"\\]*(?:\\.[^"\\]*)*"|[\t\n\r ]+/g;

/**
 * Text from elsewhere in quotes: one line, with an escape of JSON for each character that can't be seen, and at most `maxCharacters` of it,
 * followed by how many are left out. Pure.
 */
export function quoted(text: string, maxCharacters: number): string {
  const kept = beginning(text, maxCharacters);
  const left = text.length - kept.length;
  const shown = `"${visible(kept.replace(QUOTE_OR_BACKSLASH, (character) => `\\${character}`))}"`;
  return left === 0 ? shown : `${shown} (and ${String(left)} more characters)`;
}

/** The beginning of a JSON text as it may be shown, and how many bytes of it that is not. */
export interface ShownJson {
  readonly text: string;
  readonly bytes: number;
  readonly omittedBytes: number;
}

/**
 * The JSON text of an object, on one line. Outside of its strings it has nothing that needs quotes, and its spaces say nothing: however many
 * there are, one is shown, so that none moves what follows out of sight. Pure.
 */
export function shownJson(json: string, maxCharacters: number): ShownJson {
  const dense = json.replace(JSON_SPACE, (part) => (part.startsWith('"') ? part : " "));
  const kept = beginning(dense, maxCharacters);
  const omittedBytes = Buffer.byteLength(dense) - Buffer.byteLength(kept);
  return { text: visible(kept), bytes: Buffer.byteLength(json), omittedBytes };
}

/** No pair is cut into halves. */
function beginning(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const last = text.charCodeAt(maxCharacters - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? maxCharacters - 1 : maxCharacters);
}

function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    let escaped = "";
    for (let index = 0; index < character.length; index += 1) {
      escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }
    return escaped;
  });
}
