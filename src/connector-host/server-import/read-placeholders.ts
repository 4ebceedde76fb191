import { type ConfiguredValue, isVariableName, type ValuePart } from "../registration/index.js";

/** How placeholders are written: `mcpServers` files name variables as they are, `servers` files never do. */
export type Dialect = "mcpServers" | "servers";

/** A value as a file has it, with its placeholders told apart. */
export type PlaceholderVerdict =
  | { readonly kind: "value"; readonly parts: readonly PlaceholderPart[] }
  /** The whole value is `$NAME`, which some programs take for a variable. */
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "refused"; readonly reason: string };

export type PlaceholderPart = Exclude<ValuePart, { readonly secret: string }> | { readonly input: string };

const PLACEHOLDER = /\$\{([^{}]*)\}/;
const INPUT_ID = /^[\w.-]{1,64}$/;
const BARE_VARIABLE = /^\$([A-Z_][A-Z0-9_]*)$/;

/** Names that mean a place of the editor that reads the file. */
const PLACES = new Set([
  "CLAUDE_PLUGIN_DATA",
  "CLAUDE_PLUGIN_ROOT",
  "CLAUDE_PROJECT_DIR",
  "cwd",
  "execPath",
  "extensionPath",
  "pathSeparator",
  "userHome",
  "workspaceFolder",
  "workspaceFolderBasename",
]);

/**
 * Tells the placeholders of a value apart: `${env:NAME}` and `${input:id}`, and in `mcpServers` files `${NAME}` and
 * `${NAME:-default}`. Any other is refused: nobody here knows what it stands for.
 */
export function readPlaceholders(text: string, dialect: Dialect): PlaceholderVerdict {
  const bare = dialect === "mcpServers" ? BARE_VARIABLE.exec(text)?.[1] : undefined;
  if (bare !== undefined) return { kind: "variable", name: bare };
  const parts: PlaceholderPart[] = [];
  // Split at a pattern with a group: texts and what stands in placeholders take turns.
  for (const [index, piece] of text.split(PLACEHOLDER).entries()) {
    // A text between placeholders that begins another one: one that does not end, or that holds another.
    const part = index % 2 === 1 ? readPlaceholder(piece, dialect) : piece.includes("${") ? undefined : piece;
    if (part === undefined) return { kind: "refused", reason: "holds a placeholder that means nothing here" };
    if (part !== "") parts.push(part);
  }
  return { kind: "value", parts };
}

function readPlaceholder(text: string, dialect: Dialect): PlaceholderPart | undefined {
  const input = /^input:(.*)$/.exec(text)?.[1];
  if (input !== undefined) return INPUT_ID.test(input) ? { input } : undefined;
  const variable = /^env:(.*)$/.exec(text)?.[1];
  if (variable !== undefined) return isVariableName(variable) ? { env: variable } : undefined;
  if (dialect === "servers" || PLACES.has(text)) return undefined;
  const [name = "", ...rest] = text.split(":-");
  if (!/^\w+$/.test(name) || !isVariableName(name) || PLACES.has(name)) return undefined;
  return rest.length === 0 ? { env: name } : { env: name, default: rest.join(":-") };
}

/** Several parts as one value. */
export function joinParts(parts: readonly ValuePart[]): ConfiguredValue {
  const [first = "", ...rest] = parts;
  return rest.length === 0 ? first : [first, ...rest];
}
