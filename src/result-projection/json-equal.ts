import { isJsonObject } from "../protocol/index.js";

/**
 * Whether two JSON values say the same: members in any order, and `-0` as `0`. As deep as they are: nothing is called again and
 * again for it.
 */
export function jsonEqual(one: unknown, other: unknown): boolean {
  const pairs: [unknown, unknown][] = [[one, other]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      for (const [i, value] of a.entries()) pairs.push([value, b[i]]);
    } else if (isJsonObject(a)) {
      if (!isJsonObject(b)) return false;
      const names = Object.keys(a);
      if (names.length !== Object.keys(b).length) return false;
      for (const name of names) {
        if (!Object.hasOwn(b, name)) return false;
        pairs.push([a[name], b[name]]);
      }
    } else {
      return false;
    }
  }
  return true;
}
