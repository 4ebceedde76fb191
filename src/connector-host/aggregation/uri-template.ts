/** A URI template, made ready to be compared with URIs. */
export interface UriTemplate {
  readonly text: string;
  readonly parts: readonly TemplatePart[];
}

type TemplatePart = Literal | Hole;

interface Literal {
  readonly kind: "literal";
  readonly text: string;
}

/** What an expression leaves open: `lead`, and behind it one character or more that is none of `stops`. */
interface Hole {
  readonly kind: "hole";
  /** One character, or none. */
  readonly lead: string;
  readonly stops: string;
  /** Or nothing at all. */
  readonly mayBeAbsent: boolean;
}

/** Of a template or a URI beyond these nothing is known: whose they are must not take long to find out. */
const MAX_TEMPLATE_LENGTH = 2_048;
const MAX_EXPRESSIONS = 16;
const MAX_URI_LENGTH = 8_192;

const EXPRESSION = /^([+#./;?&]?)(.+)$/s;
const VARIABLE = /^(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})+(?:\*|:[1-9]\d{0,3})?$/;

/**
 * Reads a URI template. `undefined` for one that is malformed, longer than 2,048 characters, without any expression or with more
 * than 16. Pure.
 *
 * Source: RFC 6570, Syntax, levels 1 to 4.
 */
export function parseUriTemplate(text: string): UriTemplate | undefined {
  if (text.length > MAX_TEMPLATE_LENGTH) return undefined;
  const parts: TemplatePart[] = [];
  for (let at = 0; at < text.length;) {
    const open = text.indexOf("{", at);
    const literal = text.slice(at, open === -1 ? undefined : open);
    if (literal.includes("}")) return undefined;
    if (literal !== "") parts.push({ kind: "literal", text: literal });
    if (open === -1) break;
    const close = text.indexOf("}", open);
    const hole = close === -1 ? undefined : readExpression(text.slice(open + 1, close));
    if (hole === undefined) return undefined;
    parts.push(hole);
    at = close + 1;
  }
  const expressions = parts.filter(({ kind }) => kind === "hole").length;
  return expressions > 0 && expressions <= MAX_EXPRESSIONS ? { text, parts } : undefined;
}

/**
 * Whether the URI can be meant by the template. This is kinder than expansion is: a value may hold whatever does not end its
 * part of a URI, since many a server takes names that nobody encoded. A value without an operator, or with `+`, has a
 * character at least. A URI of more than 8,192 characters is never meant. Pure; takes time in proportion to the length of the
 * URI for each part, whatever they hold.
 */
export function matchesUriTemplate({ parts }: UriTemplate, uri: string): boolean {
  const [first] = parts;
  if (uri.length > MAX_URI_LENGTH || (first?.kind === "literal" && !uri.startsWith(first.text))) return false;
  // A 1 for each place in the URI where the parts so far can end.
  let ends = new Uint8Array(uri.length + 1);
  ends[0] = 1;
  for (const part of parts) {
    ends = part.kind === "literal" ? behindLiteral(uri, ends, part.text) : behindHole(uri, ends, part);
  }
  return ends[uri.length] === 1;
}

function readExpression(text: string): Hole | undefined {
  const [, operator = "", list = ""] = EXPRESSION.exec(text) ?? [];
  const variables = list.split(",");
  if (!variables.every((variable) => VARIABLE.test(variable))) return undefined;
  const hasMany = variables.length > 1 || list.endsWith("*");
  switch (operator) {
    case "+":
      return { kind: "hole", lead: "", stops: "", mayBeAbsent: false };
    case "#":
      return { kind: "hole", lead: "#", stops: "", mayBeAbsent: true };
    case "/":
      return { kind: "hole", lead: "/", stops: hasMany ? "?#" : "/?#", mayBeAbsent: true };
    case ".":
    case ";":
      return { kind: "hole", lead: operator, stops: "/?#", mayBeAbsent: true };
    case "?":
    case "&":
      return { kind: "hole", lead: operator, stops: "#", mayBeAbsent: true };
    default:
      return { kind: "hole", lead: "", stops: "/?#", mayBeAbsent: false };
  }
}

function behindLiteral(uri: string, starts: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const ends = new Uint8Array(starts.length);
  for (let at = 0; at < starts.length; at += 1) {
    if (starts[at] === 1 && uri.startsWith(text, at)) ends[at + text.length] = 1;
  }
  return ends;
}

function behindHole(uri: string, starts: Uint8Array, { lead, stops, mayBeAbsent }: Hole): Uint8Array<ArrayBuffer> {
  const ends = mayBeAbsent ? starts.slice() : new Uint8Array(starts.length);
  let isInside = false;
  for (let at = lead.length; at < uri.length; at += 1) {
    const begins = starts[at - lead.length] === 1 && (lead === "" || uri[at - 1] === lead);
    isInside = (isInside || begins) && !stops.includes(uri.charAt(at));
    if (isInside) ends[at + 1] = 1;
  }
  return ends;
}
