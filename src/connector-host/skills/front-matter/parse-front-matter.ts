import { Composer, type CST, isMap, isScalar, Parser } from "yaml";

/** The texts in the outermost mapping, by name; or why there are none. */
export type FrontMatter =
  | { readonly kind: "texts"; readonly texts: ReadonlyMap<string, string> }
  | { readonly kind: "refused"; readonly reason: string };

const MAX_DEPTH = 16;

/**
 * Reads front matter of a bounded length. Every scalar is a text: `yes`, `1` and a date are what was written. Members that are no
 * scalars are read over. Pure; never throws.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const tokens = [...new Parser().parse(text)];
  // Before anything is made of them: the composer recurses, and without stack an engine can end the process.
  const fault = faultIn(tokens);
  if (fault !== undefined) return { kind: "refused", reason: fault };
  const composer = new Composer({ schema: "failsafe", stringKeys: true, uniqueKeys: true, logLevel: "silent" });
  const [document, another] = [...composer.compose(tokens)];
  const [error] = document?.errors ?? [];
  if (error !== undefined) return { kind: "refused", reason: `is no YAML (${error.code})` };
  if (document === undefined || another !== undefined || !isMap(document.contents)) {
    return { kind: "refused", reason: "is no mapping" };
  }
  const texts = new Map<string, string>();
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key) || !isScalar(value) || typeof key.value !== "string") continue;
    texts.set(key.value, typeof value.value === "string" ? value.value : "");
  }
  return { kind: "texts", texts };
}

/** What is refused whatever it says: an alias repeats what it stands for, and a tag makes something else of a text. */
function faultIn(tokens: readonly CST.Token[]): string | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > MAX_DEPTH) return `is nested more than ${String(MAX_DEPTH)} deep`;
    if (MARKS.has(token.type)) return "has an anchor, an alias or a tag";
    for (const inner of innerTokens(token)) open.push({ token: inner, depth: depth + 1 });
  }
  return undefined;
}

const MARKS: ReadonlySet<string> = new Set(["alias", "anchor", "tag"]);

function innerTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return [...token.start, ...(token.value === undefined ? [] : [token.value])];
  if (token.type === "block-scalar") return token.props;
  if (!("items" in token)) return [];
  return token.items.flatMap(({ start, key, sep, value }) => [
    ...start,
    ...(sep ?? []),
    ...[key, value].filter((each) => each !== undefined && each !== null),
  ]);
}
