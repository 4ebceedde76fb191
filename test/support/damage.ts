/** A text with another character at each place in turn, by each of the bits; cut at each length; and with something more at an end. */
export function* damagedTexts(text: string, bits: readonly number[] = [1, 2, 0x20]): Generator<string> {
  for (let at = 0; at < text.length; at += 1) {
    for (const bit of bits) {
      const other = String.fromCharCode(text.charCodeAt(at) ^ bit);
      yield text.slice(0, at) + other + text.slice(at + 1);
    }
    yield text.slice(0, at);
  }
  for (const more of [" ", "\n", "=", "A", "\0"]) {
    yield text + more;
    yield more + text;
  }
}
