import type { RE2JS } from "re2js";
import { plainText } from "../plain-text.js";
import { brokenSchema, overLimit, type Refusal, unsupportedDialect } from "./verdict.js";

/** A pattern that takes time in proportion to the text, whoever wrote it. */
export interface LinearPattern {
  /** Its size: the work for one character at worst. */
  readonly instructions: number;
  test(text: string): boolean;
}

/** Compiles the patterns of one schema. */
export type PatternCompiler = (patterns: ReadonlySet<string>) => ReadonlyMap<string, LinearPattern>;

/** Bounds what a single pattern can cost before its size is known. */
const MAX_PATTERN_LENGTH = 2_048;

/** Escapes that mean the same to both engines. */
const SAME_ESCAPES = "dDwWbBnrtfv";
/** What ECMAScript calls white space; the other engine knows only that of ASCII. */
const WHITE_SPACE =
  "\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_LINE_END = "[^\\n\\r\\x{2028}\\x{2029}]";
/** One element of a pattern. Everything that it does not name stands for itself. */
const ELEMENT =
  /\\u\{([0-9a-fA-F]{1,6})\}|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\c([A-Za-z])|\\([pP])\{([^}]*)\}|\\(.)|\[\^?\]?|\]|\(\?<(?![=!])|\(\?(?![:=!<])|./giuy;

/** Long names of the categories that patterns ask for; the other engine knows the short ones. */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ["Letter", "L"],
  ["Lowercase_Letter", "Ll"],
  ["Uppercase_Letter", "Lu"],
  ["Mark", "M"],
  ["Number", "N"],
  ["Decimal_Number", "Nd"],
  ["Punctuation", "P"],
  ["Separator", "Z"],
  ["Symbol", "S"],
]);

/**
 * An ECMAScript pattern in the syntax of RE2, with the same meaning; `undefined` when it has a construct that RE2 has
 * not, such as a look-ahead or a back-reference. Pure. Whether it is a pattern at all is not judged here.
 */
export function translatePattern(pattern: string): string | undefined {
  let inClass = false;
  let out = "";
  for (const match of pattern.matchAll(ELEMENT)) {
    const element = match[0];
    const translated = inClass ? insideClass(match) : outsideClass(match);
    if (translated === undefined) return undefined;
    if (!inClass && element.startsWith("[") && element !== "[]" && element !== "[^]") inClass = true;
    else if (inClass && element.endsWith("]") && !element.startsWith("\\")) inClass = false;
    out += translated;
  }
  return out;
}

function outsideClass(match: RegExpExecArray): string | undefined {
  const element = match[0];
  if (element === ".") return NOT_LINE_END;
  if (element === "\\s") return `[${WHITE_SPACE}]`;
  if (element === "\\S") return `[^${WHITE_SPACE}]`;
  if (element === "[]") return "[^\\x{0}-\\x{10FFFF}]";
  if (element === "[^]") return "[\\x{0}-\\x{10FFFF}]";
  if (element === "(?<") return "(?P<";
  // Flags, which the older revisions of ECMAScript don't have.
  if (element === "(?") return undefined;
  return inEither(match);
}

function insideClass(match: RegExpExecArray): string | undefined {
  const element = match[0];
  if (element === "\\b") return "\\x{8}";
  if (element === "\\s") return WHITE_SPACE;
  // Its complement beside other members of a class can't be written; with `\s` it is everything.
  if (element === "\\S") return "\\S";
  if (element === "\\B") return undefined;
  // A bracket inside stands for itself; the one that closes may be in the same element.
  if (element.startsWith("[")) return element.replace(/[[^]/g, "\\$&");
  return inEither(match);
}

function inEither(match: RegExpExecArray): string | undefined {
  const [element, braced, high, low, unicode, hex, control, property, propertyName, escaped] = match;
  if (high !== undefined && low !== undefined) {
    const pair = (parseInt(high, 16) - 0xd800) * 0x400 + (parseInt(low, 16) - 0xdc00) + 0x10000;
    return `\\x{${pair.toString(16)}}`;
  }
  const code = braced ?? unicode ?? hex;
  if (code !== undefined) return `\\x{${code}}`;
  if (control !== undefined) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`;
  if (property !== undefined && propertyName !== undefined) {
    const name = propertyName.replace(/^(?:Script|sc|General_Category|gc)=/, "");
    return `\\${property}{${CATEGORIES.get(name) ?? name}}`;
  }
  if (escaped === undefined) return element;
  if (escaped === "0") return "\\x{0}";
  if (/[0-9A-Za-z]/.test(escaped)) return SAME_ESCAPES.includes(escaped) ? element : undefined;
  return /[!-/:-@[-`{-~]/.test(escaped) ? element : escaped;
}

/**
 * A compiler on RE2. Refuses what is no pattern (`invalid` of `schema`), what can't be matched in linear time
 * (`unsupported_dialect`), and patterns that together compile to more instructions than `maxInstructions`.
 */
export function createPatternCompiler(re2: typeof RE2JS, maxInstructions: number): PatternCompiler {
  return (patterns) => {
    const compiled = new Map<string, LinearPattern>();
    let instructions = 0;
    for (const pattern of patterns) {
      if (pattern.length > MAX_PATTERN_LENGTH) throw overLimit("", "maxPatternInstructions", maxInstructions);
      const one = compilePattern(re2, pattern);
      instructions += one.instructions;
      if (instructions > maxInstructions) throw overLimit("", "maxPatternInstructions", maxInstructions);
      compiled.set(pattern, one);
    }
    return compiled;
  };
}

function compilePattern(re2: typeof RE2JS, pattern: string): LinearPattern {
  if (!isPattern(pattern)) throw brokenSchema("", `${shown(pattern)} is no regular expression`);
  const translated = translatePattern(pattern);
  if (translated === undefined) throw notLinear(pattern);
  try {
    const compiled = re2.compile(translated);
    return { instructions: compiled.programSize(), test: (text) => compiled.test(text) };
  } catch (error) {
    // Its own exceptions say what it can't do; anything else is a fault.
    if (error instanceof Error && error.name.startsWith("RE2JS")) throw notLinear(pattern);
    throw error;
  }
}

function notLinear(pattern: string): Refusal {
  return unsupportedDialect("", `the pattern ${shown(pattern)} can't be matched in linear time`);
}

function shown(pattern: string): string {
  return plainText(pattern, 80);
}

/** Whether ECMAScript takes a pattern. It is parsed, never run. */
function isPattern(pattern: string): boolean {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags) instanceof RegExp;
    } catch {
      // Many a schema escapes what needs none, which only the older syntax allows.
    }
  }
  return false;
}
