/** How many bytes the text takes in UTF-8, where half a pair takes those of U+FFFD. */
export function encodedLength(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair takes four: two for its length, and two for its first half.
    if (isHighHalf(unit) && isLowHalf(text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

/** How many bytes base64 text without line breaks stands for. */
export function decodedLength(text: string): number {
  const padding = text.indexOf("=");
  return Math.floor(((padding === -1 ? text.length : padding) * 3) / 4);
}

export function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
