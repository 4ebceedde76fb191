/**
 * Whether a number is a multiple of another, as the decimals that they are written as: 19.99 is one of 0.01, though not
 * in binary. The divisor is above zero.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value) || !Number.isFinite(divisor)) return false;
  const [digits, exponent] = decimalOf(value);
  const [divisorDigits, divisorExponent] = decimalOf(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

/** A finite number as digits and a power of ten. */
function decimalOf(value: number): readonly [bigint, number] {
  const [coefficient = "0", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "0", fraction = ""] = coefficient.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
