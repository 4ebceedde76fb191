/** An exposed name, split. */
export interface SplitName {
  readonly namespace: string;
  /** What the namespace's own tools are known by. Not the native name: find that with `findNativeName`. */
  readonly rest: string;
}

/** Namespaces that can be asked for. A set or map of them will do. */
export interface KnownNamespaces {
  has(namespace: string): boolean;
}

/**
 * How the tools of many connectors get names on one server. Pure: a name depends on nothing but the connector's key and
 * the tool's native name, so that it is the same after a restart and whatever else is connected.
 *
 * A policy may give two tools one name. The tables built on it leave out all of them.
 */
export interface NamingPolicy {
  /** The prefix that keeps the connector's tools apart from others'. Throws `invalid_argument` for ill-formed text. */
  namespace(connectorKey: string): string;
  /** The name that agents see; `undefined` when the tool can't have one: its name is empty or ill-formed. */
  exposedName(connectorKey: string, nativeName: string): string | undefined;
  /**
   * Splits an exposed name; `undefined` when it can't be one of this policy.
   *
   * A policy whose separator can occur inside a namespace takes the longest of the `known` ones that fits, and without
   * `known` the shortest; others don't look at it.
   */
  parse(exposedName: string, known?: KnownNamespaces): SplitName | undefined;
}
