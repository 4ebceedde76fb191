/**
 * How every part of this package reads options: a misspelt name is refused with the right one, a number out of range is
 * refused with its name. Nothing else knows these rules; each `resolve…Options` knows its own defaults.
 */
import { RemoteConnectorError } from "./errors.js";

/** Throws `invalid_options` for a key that is not in `known`, naming the one that was probably meant. */
export function refuseUnknownOptions(options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const suggestion = closest(option, known);
    const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
    throw new RemoteConnectorError("invalid_options", {
      message: `There is no option ${option}.${hint}`,
      details: { option, reason: "unknown", suggestion },
    });
  }
}

/** A duration in milliseconds: more than zero, `Infinity` for none. Throws `invalid_options`. */
export function durationOption(option: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && value > 0) return value;
  return refuseOption(option, "must be a number of milliseconds above zero, or Infinity");
}

/** A count or a number of bytes: a whole number of at least `least`, `Infinity` for no limit. Throws `invalid_options`. */
export function countOption(option: string, value: number | undefined, fallback: number, least = 1): number {
  if (value === undefined) return fallback;
  if (value === Infinity || (Number.isSafeInteger(value) && value >= least)) return value;
  return refuseOption(option, `must be a whole number of at least ${String(least)}, or Infinity`);
}

/** One of the names that an option can have; the first is the default. Throws `invalid_options`. */
export function choiceOption<C extends string>(
  option: string,
  value: C | undefined,
  choices: readonly [C, ...(readonly C[])],
): C {
  if (value === undefined) return choices[0];
  if (choices.includes(value)) return value;
  return refuseOption(option, `must be one of ${choices.join(", ")}`);
}

/** Throws `invalid_options` for one option. */
export function refuseOption(option: string, reason: string): never {
  throw new RemoteConnectorError("invalid_options", {
    message: `The option ${option} ${reason}.`,
    details: { option, reason },
  });
}

/** The known name within two edits of `name`, or that differs from it only in case. */
function closest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Throws `invalid_options` for what can't be called. */
export function functionOption<F>(option: string, value: F | undefined, fallback: F): F {
  if (value !== undefined && typeof value !== "function") refuseOption(option, "must be a function");
  return value ?? fallback;
}
