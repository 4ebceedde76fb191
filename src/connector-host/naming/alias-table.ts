import { refuseUnknownOptions } from "../../options.js";
import { compareDiagnostics, identityOf, type NameDiagnostic, type ToolIdentity } from "./name-diagnostic.js";
import { isNamable } from "./namable.js";

/** A tool that gets an alias, with the name by which people know its server. */
export interface AliasableTool extends ToolIdentity {
  readonly serverName: string;
}

export interface AliasOptions {
  /** Names that are taken already, such as those of the host's own tools. They stay with whoever has them. */
  readonly taken?: Iterable<string> | undefined;
}

/** The tools of one round, by alias. An alias is decoded here and nowhere else: its text does not say what it stands for. */
export interface AliasTable<Tool extends ToolIdentity> {
  /** In the order of the tools. */
  readonly entries: ReadonlyMap<string, Tool>;
  /** What was left out. */
  readonly diagnostics: readonly NameDiagnostic[];
}

const PREFIX = "mcp__";
const SEPARATOR = "__";
const ALIAS_LENGTH = 64;
/** What a long server name keeps when a long tool name wants the room. */
const SERVER_LENGTH = 20;

/**
 * Gives each tool an alias `mcp__<server>__<tool>` of at most 64 characters of `[A-Za-z0-9_-]`, for hosts that freeze the tools
 * of a round and decode by the round's own table. Pure.
 *
 * What an alias can't hold becomes `_`. Where two tools would have one alias, the second gets `__2`, the third `__3`: so aliases
 * depend on the order of `tools`, which has to be a settled one, and on what else is there. A tool that has no usable native
 * name, or that comes more than once, is left out. Throws `invalid_options` for an option that there is not.
 */
export function assignAliases<Tool extends AliasableTool>(
  tools: Iterable<Tool>,
  options: AliasOptions = {},
): AliasTable<Tool> {
  refuseUnknownOptions(options, ["taken"]);
  const all = [...tools];
  const times = countIdentities(all);
  const taken = new Set(options.taken);
  const entries = new Map<string, Tool>();
  const repeated = new Map<string, NameDiagnostic>();
  const diagnostics: NameDiagnostic[] = [];
  /** By an alias with `#` for the digits of its number, the first number that was not tried. */
  const nextNumbers = new Map<string, number>();
  for (const tool of all) {
    const identity = identityText(tool);
    if (!isNamable(tool.nativeName)) diagnostics.push({ kind: "unnamable_tool", tool: identityOf(tool) });
    else if (times.get(identity) !== 1) repeated.set(identity, { kind: "repeated_tool", tool: identityOf(tool) });
    else {
      const alias = freeAlias(tool, taken, nextNumbers);
      taken.add(alias);
      entries.set(alias, tool);
    }
  }
  return { entries, diagnostics: [...diagnostics, ...repeated.values()].sort(compareDiagnostics) };
}

/**
 * The aliases that are left when a list went through hands that may have changed it: those that `names` holds exactly once. One
 * that was renamed, removed or doubled is not guessed at.
 */
export function keepAdvertised<Tool extends ToolIdentity>(
  table: AliasTable<Tool>,
  names: Iterable<string>,
): ReadonlyMap<string, Tool> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return new Map([...table.entries].filter(([alias]) => times.get(alias) === 1));
}

function countIdentities(tools: readonly ToolIdentity[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const tool of tools) {
    const identity = identityText(tool);
    times.set(identity, (times.get(identity) ?? 0) + 1);
  }
  return times;
}

/** The first alias that is free: without a number, then with the smallest. */
function freeAlias(tool: AliasableTool, taken: ReadonlySet<string>, nextNumbers: Map<string, number>): string {
  const server = segment(tool.serverName, "server");
  const native = segment(tool.nativeName, "tool");
  const plain = aliasOf(server, native, "");
  if (!taken.has(plain)) return plain;
  for (let digits = 1; ; digits += 1) {
    // Tools whose names are cut to the same text share their numbers: none is tried twice.
    const form = aliasOf(server, native, SEPARATOR + "#".repeat(digits));
    const end = 10 ** digits;
    for (let number = nextNumbers.get(form) ?? Math.max(2, end / 10); number < end; number += 1) {
      nextNumbers.set(form, number + 1);
      const alias = form.slice(0, -digits) + String(number);
      if (!taken.has(alias)) return alias;
    }
  }
}

/** The tool's part has the first claim to the room, and what it leaves goes back to the server's. */
function aliasOf(server: string, tool: string, suffix: string): string {
  const room = ALIAS_LENGTH - PREFIX.length - SEPARATOR.length - suffix.length;
  const kept = Math.min(server.length, SERVER_LENGTH);
  const toolLength = Math.min(tool.length, room - kept);
  const serverLength = Math.min(server.length, room - toolLength);
  return `${PREFIX}${server.slice(0, serverLength)}${SEPARATOR}${tool.slice(0, toolLength)}${suffix}`;
}

/** Never holds two `_` in a row, nor one at an end. */
function segment(text: string, fallback: string): string {
  const kept = text.replace(/[^A-Za-z0-9-]+/g, "_").replace(/^_|_$/g, "");
  return kept === "" ? fallback : kept;
}

function identityText({ connectorKey, nativeName }: ToolIdentity): string {
  return JSON.stringify([connectorKey, nativeName]);
}
