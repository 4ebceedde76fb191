/** What can't be seen, or changes how what is around it is shown; of spaces, all but the plain one. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
const QUOTE_OR_BACKSLASH = /["\\]/g;
/** The only characters of the kind that JSON has outside of its strings, and never inside. */
const JSON_SPACE = /[\t\n\r ]+/g;

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

/** The JSON text of an object, on one line. Outside of its strings it has nothing that needs quotes. Pure. */
export function shownJson(json: string, maxCharacters: number): ShownJson {
  const bytes = Buffer.byteLength(json);
  const kept = beginning(json, maxCharacters);
  const omittedBytes = bytes - Buffer.byteLength(kept);
  const text = kept.replace(JSON_SPACE, (spaces) => (/^ +$/.test(spaces) ? spaces : " "));
  return { text: visible(text), bytes, omittedBytes };
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
