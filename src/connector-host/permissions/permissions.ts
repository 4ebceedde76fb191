import type { ToolPermission, ToolRules } from "../registration/index.js";
import type { Pinned } from "../routes/index.js";
import type { AccessTest } from "./access-globs.js";

/** What permissions are decided by. */
export interface PermissionSource {
  /** What was decided about the tools of a connector; `undefined` for one that is not there. */
  rulesOf(connectorKey: string): Pick<ToolRules, "newTools" | "permissions"> | undefined;
  /** A number that is another one after each change of the connector's rules; `undefined` for one that is not there. */
  versionOf(connectorKey: string): number | undefined;
}

/**
 * Says what agents may see and call. Pure decisions over a source that may change at any time; what a server says of its tools,
 * annotations included, never counts.
 */
export class Permissions {
  readonly #source: PermissionSource;
  readonly #isReachable: AccessTest;

  constructor(source: PermissionSource, isReachable: AccessTest) {
    this.#source = source;
    this.#isReachable = isReachable;
  }

  /** `off`: neither listed nor called. `ask`: listed, and each call needs an approval. */
  ofTool(connectorKey: string, nativeName: string): ToolPermission {
    const rules = this.#source.rulesOf(connectorKey);
    if (rules === undefined || !this.#isReachable(subjectOf(connectorKey, nativeName))) return "off";
    const { permissions, newTools } = rules;
    return Object.hasOwn(permissions, nativeName) ? (permissions[nativeName] ?? newTools) : newTools;
  }

  /** Whether a prompt, by its native name, or a resource, by its URI, may be listed and read. */
  admitsEntry(connectorKey: string, name: string): boolean {
    return this.#source.rulesOf(connectorKey) !== undefined && this.#isReachable(subjectOf(connectorKey, name));
  }

  /** Whether any tool of the connector can be called: where none can, it is not asked what it has. */
  mayHoldTools(connectorKey: string): boolean {
    const rules = this.#source.rulesOf(connectorKey);
    if (rules === undefined) return false;
    return rules.newTools !== "off" || Object.values(rules.permissions).some((permission) => permission !== "off");
  }

  /** What a call that was allowed now is compared with when it is sent. */
  pin(connectorKey: string): Pinned | undefined {
    const value = this.#source.versionOf(connectorKey);
    return value === undefined ? undefined : { value, current: () => this.#source.versionOf(connectorKey) };
  }
}

function subjectOf(connectorKey: string, name: string): string {
  return `${connectorKey}/${name}`;
}
