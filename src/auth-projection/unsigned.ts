const DECIMAL = /^[0-9]{1,20}$/;
const LARGEST = 2n ** 64n - 1n;

/**
 * An unsigned 64-bit integer, as the control plane writes it: a JSON number, or a string of decimal digits.
 *
 * `undefined` for everything else. A number past 2^53 - 1 is refused: it has lost digits already, and a rounded revision
 * can compare equal to one that it is not.
 */
export function readUnsigned(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  if (typeof value !== "string" || !DECIMAL.test(value)) return undefined;
  const number = BigInt(value);
  return number <= LARGEST ? number : undefined;
}
