import { isJsonObject } from "../../protocol/index.js";

/** Makes of a body what may be kept of it. Answers `undefined` to keep nothing; what it throws counts as that. */
export type RedactBody = (text: string) => string | undefined;

const MASK = "[redacted]";
const DEEPEST = 32;

/** Members whose values are secrets in all likelihood, in whichever case and with whichever joiners they are written. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)|secret|token|credential|authorization|cookie|api-?key|private-?key|access-?key|session-?id|bearer|otp$|^pin$|^pwd$|^auth$|signature/;

/** What looks like a secret wherever it is: credentials of a header, a JWT, userinfo of a URL, keys with well-known beginnings. */
const SECRET_TEXT: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp])[-_][\w-]{16,}/g,
];

/**
 * A JSON text without the values of members that are called like secrets, and without what looks like one. `undefined` for what is no
 * JSON. Texts that are JSON themselves are treated likewise. It can't know every secret: one in plain words stays.
 */
export function redactJson(text: string): string | undefined {
  try {
    return JSON.stringify(redactValue(JSON.parse(text), 0));
  } catch {
    return undefined;
  }
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactText(value, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return MASK;
  if (Array.isArray(value)) return value.map((each) => redactValue(each, depth + 1));
  if (!isJsonObject(value)) return MASK;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSecretName(name) ? MASK : redactValue(member, depth + 1)]),
  );
}

function isSecretName(name: string): boolean {
  // `apiKey` and `API_KEY` are one name.
  const plain = name.replaceAll(/([a-z\d])([A-Z])/g, "$1-$2").replaceAll(/[_\s.]/g, "-");
  return SECRET_NAME.test(plain.toLowerCase());
}

function redactText(text: string, depth: number): string {
  const inner = depth < DEEPEST && /^\s*[[{]/.test(text) ? innerJson(text, depth) : undefined;
  return inner ?? SECRET_TEXT.reduce((known, pattern) => known.replaceAll(pattern, MASK), text);
}

function innerJson(text: string, depth: number): string | undefined {
  try {
    return JSON.stringify(redactValue(JSON.parse(text), depth + 1));
  } catch {
    return undefined;
  }
}
