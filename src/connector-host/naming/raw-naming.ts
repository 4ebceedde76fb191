import { countOption, refuseUnknownOptions } from "../../options.js";
import { assertWellFormedKey, isNamable, refuseKey } from "./namable.js";
import type { KnownNamespaces, NamingPolicy, SplitName } from "./naming-policy.js";

export interface RawNamingOptions {
  /** Longest name, in characters, prefix and key included. 64 when left out, `Infinity` for none. */
  readonly maxNameLength?: number | undefined;
}

const PREFIX = "mcp__";
const SEPARATOR = "__";
/** Of a key. It bounds what a name from an agent can make us look at. */
const LONGEST_KEY = 128;

/**
 * The policy `mcp__<server>__<tool>`: key and native name as they are, for hosts whose agents know tools by such names. A
 * namespace is the key itself.
 *
 * Nothing is replaced or shortened: a name has whatever characters its parts have, and a tool whose name would be too long
 * has none. A key may hold the separator, so that a name alone does not say where the key ends: it belongs to the
 * connector with the longest known key that fits and leaves something for the tool. Where `a` and `a__b` are both there,
 * `mcp__a__b__c` is `c` of `a__b`, and a `b__c` of `a` has no name, whatever `a__b` lists.
 *
 * Throws `invalid_options`; its `namespace` throws `invalid_argument` for a key that is empty, ill-formed or longer than 128
 * characters.
 */
export function createRawNaming(options: RawNamingOptions = {}): NamingPolicy {
  refuseUnknownOptions(options, ["maxNameLength"]);
  const maxLength = countOption("maxNameLength", options.maxNameLength, 64);
  return {
    namespace: assertKey,
    exposedName(connectorKey, nativeName) {
      if (!isNamable(nativeName)) return undefined;
      const name = `${PREFIX}${assertKey(connectorKey)}${SEPARATOR}${nativeName}`;
      return name.length > maxLength ? undefined : name;
    },
    parse: (exposedName, known) => (exposedName.length > maxLength ? undefined : split(exposedName, known)),
  };
}

function assertKey(connectorKey: string): string {
  if (connectorKey === "" || connectorKey.length > LONGEST_KEY) {
    refuseKey(`must have 1 to ${String(LONGEST_KEY)} characters`, "its length");
  }
  assertWellFormedKey(connectorKey);
  return connectorKey;
}

function split(exposedName: string, known: KnownNamespaces | undefined): SplitName | undefined {
  if (!exposedName.startsWith(PREFIX)) return undefined;
  const body = exposedName.slice(PREFIX.length);
  const last = body.length - SEPARATOR.length - 1;
  if (known === undefined) {
    const end = body.indexOf(SEPARATOR, 1);
    return end === -1 || end > last ? undefined : splitAt(body, end);
  }
  // Positions overlap: in `a___b` the key may be `a` or `a_`.
  for (let end = Math.min(last, LONGEST_KEY); end >= 1; end -= 1) {
    if (body.startsWith(SEPARATOR, end) && known.has(body.slice(0, end))) return splitAt(body, end);
  }
  return undefined;
}

function splitAt(body: string, end: number): SplitName {
  return { namespace: body.slice(0, end), rest: body.slice(end + SEPARATOR.length) };
}
