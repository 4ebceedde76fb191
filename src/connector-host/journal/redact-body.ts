import { isJsonObject } from "../../protocol/index.js";

/** Makes of a body what may be kept of it. Answers `undefined` to keep nothing; what it throws counts as that. */
export type RedactBody = (text: string) => string | undefined;

const MASK = "[redacted]";
const DEEPEST = 32;

/** Members whose values are secrets in all likelihood, in whichever case and with whichever joiners they are written. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)|secret|token|credential|authorization|cookie|api-?key|private-?key|access-?key|session-?id|bearer|otp$|^pin$|^pwd$|^auth$|signature/;

/** What looks like a secret wherever it is: credentials of a header, userinfo of a URL, keys with well-known beginnings. */
const SECRET_TEXT: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp])[-_][\w-]{16,}/g,
];

/** Where a JWT could be. Found as a whole: to look for its end from each place where one could begin takes the square of a text's length. */
const DOTTED_TEXT = /(?<![\w-])[\w-]+(?:\.[\w-]*)+/g;
const JWT_BEGIN = /\beyJ[\w-]{8}/;

/** Members of a pair that say what its `value` is, as lists of headers and variables have them. */
const PAIR_NAMES = ["name", "key"];

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
  const isSecretPair = PAIR_NAMES.some((name) => isSecretName(value[name]));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isSecret = isSecretName(name) || (isSecretPair && name === "value");
      return [maskText(name), isSecret ? MASK : redactValue(member, depth + 1)];
    }),
  );
}

function isSecretName(name: unknown): boolean {
  if (typeof name !== "string") return false;
  // `apiKey` and `API_KEY` are one name.
  const plain = name.replaceAll(/([a-z\d])([A-Z])/g, "$1-$2").replaceAll(/[_\s.]/g, "-");
  return SECRET_NAME.test(plain.toLowerCase());
}

function redactText(text: string, depth: number): string {
  const inner = depth < DEEPEST && /^\s*[[{]/.test(text) ? innerJson(text, depth) : undefined;
  return inner ?? maskText(text);
}

function maskText(text: string): string {
  const masked = SECRET_TEXT.reduce((known, pattern) => known.replaceAll(pattern, MASK), text);
  return masked.replaceAll(DOTTED_TEXT, maskJwt);
}

function maskJwt(text: string): string {
  const at = text.search(JWT_BEGIN);
  return at === -1 || !text.includes(".", at) ? text : text.slice(0, at) + MASK;
}

function innerJson(text: string, depth: number): string | undefined {
  try {
    return JSON.stringify(redactValue(JSON.parse(text), depth + 1));
  } catch {
    return undefined;
  }
}
