import { countOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { assertWellFormedKey, isNamable } from "./namable.js";
import { endsLikeMark, MARK_LENGTH, nameMark } from "./name-mark.js";
import type { NamingPolicy, SplitName } from "./naming-policy.js";

export interface InjectiveNamingOptions {
  /** Longest name that agents accept, their own prefix included. 64 when left out. */
  readonly maxNameLength?: number | undefined;
  /** Room for the prefix that agents put before a server's tool names. 16 when left out. */
  readonly reservedPrefixLength?: number | undefined;
}

const SEPARATOR = "_";
const NAMESPACE_LENGTH = 24;
const NAMESPACE_STEM_LENGTH = NAMESPACE_LENGTH - MARK_LENGTH;
const NAMESPACE = /^[a-z][a-z0-9-]*$/;
const PLAIN_TOOL = /^[A-Za-z0-9_-]+$/;
const NAMESPACES_REMEMBERED = 4_096;
/** Under the longest namespace a marked name still keeps one readable character. */
const LEAST_LENGTH = NAMESPACE_LENGTH + SEPARATOR.length + 1 + MARK_LENGTH;

/**
 * The default policy: `namespace(key) + "_" + tool(native)`, readable where it can be and different for different tools.
 *
 * A namespace matches `[a-z][a-z0-9-]*`, has at most 24 characters and never holds `_`, so that the first `_` ends it.
 * A key, or a native name of `[A-Za-z0-9_-]+`, that fits and does not end like a mark stands for itself. Any other becomes
 * a readable stem and a mark, a hash of the whole. An unmarked name never ends like a mark and a marked one always does,
 * so that two tools share a name only when 60 bits of two hashes do.
 *
 * Throws `invalid_options` for limits under which a marked name has no room.
 */
export function createInjectiveNaming(options: InjectiveNamingOptions = {}): NamingPolicy {
  const maxLength = resolveMaxLength(options);
  const namespace = remembering(namespaceOf);
  return {
    namespace,
    exposedName(connectorKey, nativeName) {
      if (!isNamable(nativeName)) return undefined;
      const prefix = `${namespace(connectorKey)}${SEPARATOR}`;
      return prefix + toolPart(nativeName, maxLength - prefix.length);
    },
    parse: (exposedName) => (exposedName.length > maxLength ? undefined : split(exposedName)),
  };
}

function resolveMaxLength(options: InjectiveNamingOptions): number {
  refuseUnknownOptions(options, ["maxNameLength", "reservedPrefixLength"]);
  const whole = countOption("maxNameLength", options.maxNameLength, 64);
  const reserved = countOption("reservedPrefixLength", options.reservedPrefixLength, 16, 0);
  // Written so that two infinities are refused as well.
  if (!(whole - reserved >= LEAST_LENGTH)) {
    refuseOption("maxNameLength", `must leave ${String(LEAST_LENGTH)} characters beside the reserved prefix`);
  }
  return whole - reserved;
}

/** Hashing a key for each of its tools, at each call, would cost more than the call. */
function remembering(read: (connectorKey: string) => string): (connectorKey: string) => string {
  const known = new Map<string, string>();
  return (connectorKey) => {
    let namespace = known.get(connectorKey);
    if (namespace === undefined) {
      namespace = read(connectorKey);
      if (known.size >= NAMESPACES_REMEMBERED) known.clear();
      known.set(connectorKey, namespace);
    }
    return namespace;
  };
}

function namespaceOf(connectorKey: string): string {
  assertWellFormedKey(connectorKey);
  if (NAMESPACE.test(connectorKey) && connectorKey.length <= NAMESPACE_LENGTH && !endsLikeMark(connectorKey)) {
    return connectorKey;
  }
  const words = connectorKey
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const stem = (/^[a-z]/.test(words) ? words : `c${words}`).slice(0, NAMESPACE_STEM_LENGTH);
  return stem + nameMark("key", connectorKey);
}

function toolPart(nativeName: string, room: number): string {
  if (PLAIN_TOOL.test(nativeName) && nativeName.length <= room && !endsLikeMark(nativeName)) return nativeName;
  const words = nativeName.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "");
  const stem = (words === "" ? "tool" : words).slice(0, room - MARK_LENGTH);
  return stem + nameMark("tool", nativeName);
}

function split(exposedName: string): SplitName | undefined {
  const end = exposedName.indexOf(SEPARATOR);
  if (end === -1) return undefined;
  const [prefix, rest] = [exposedName.slice(0, end), exposedName.slice(end + SEPARATOR.length)];
  if (prefix.length > NAMESPACE_LENGTH || !NAMESPACE.test(prefix) || !PLAIN_TOOL.test(rest)) return undefined;
  return { namespace: prefix, rest };
}
