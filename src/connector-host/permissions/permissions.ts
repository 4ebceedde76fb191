import type { PermissionRules, ToolPermission } from "../registration/index.js";
import type { AdmissionPins } from "../routes/index.js";
import type { AccessTest } from "./access-globs.js";
import { permissionIn } from "./permission-in.js";

/** What permissions are decided by. */
export interface PermissionSource {
  /** What was decided about the tools of a connector; `undefined` for one that is not there. */
  rulesOf(connectorKey: string): PermissionRules | undefined;
  /** A number that is another one after each change of the connector's rules; `undefined` for one that is not there. */
  versionOf(connectorKey: string): number | undefined;
}

/**
 * Says what agents may see and call. Pure decisions over a source that may change at any time; what a server says of its tools,
 * annotations included, never counts.
 */
export class Permissions {
  readonly #source: PermissionSource;
  readonly #isReachable: AccessTest | undefined;
  /** The last that were made, so that a call makes none. They go with the rules. */
  readonly #pins = new WeakMap<PermissionRules, AdmissionPins>();

  /** Without `isReachable`, everything may be reached. */
  constructor(source: PermissionSource, isReachable?: AccessTest) {
    this.#source = source;
    this.#isReachable = isReachable;
  }

  /** `off`: neither listed nor called. `ask`: listed, and each call needs an approval. */
  ofTool(connectorKey: string, nativeName: string): ToolPermission {
    const rules = this.#source.rulesOf(connectorKey);
    return rules === undefined || !this.#reaches(connectorKey, nativeName) ? "off" : permissionIn(rules, nativeName);
  }

  /** Whether a prompt, by its native name, or a resource, by its URI, may be listed and read. */
  admitsEntry(connectorKey: string, name: string): boolean {
    return this.#source.rulesOf(connectorKey) !== undefined && this.#reaches(connectorKey, name);
  }

  /** Whether any tool of the connector can be called: where none can, it is not asked what it has. */
  mayHoldTools(connectorKey: string): boolean {
    const rules = this.#source.rulesOf(connectorKey);
    if (rules === undefined) return false;
    return rules.newTools !== "off" || Object.values(rules.permissions).some((permission) => permission !== "off");
  }

  /** A number that is another one after each change of what may be done with the connector's tools. */
  version(connectorKey: string): number | undefined {
    return this.#source.versionOf(connectorKey);
  }

  /** What a call that was allowed now is compared with when it is sent. `undefined` for a connector that is not there. */
  pins(connectorKey: string): AdmissionPins | undefined {
    const rules = this.#source.rulesOf(connectorKey);
    const value = this.#source.versionOf(connectorKey);
    if (rules === undefined || value === undefined) return undefined;
    const known = this.#pins.get(rules);
    if (known?.permission?.value === value) return known;
    const pins = { permission: { value, current: () => this.#source.versionOf(connectorKey) } };
    this.#pins.set(rules, pins);
    return pins;
  }

  #reaches(connectorKey: string, name: string): boolean {
    return this.#isReachable === undefined || this.#isReachable(`${connectorKey}/${name}`);
  }
}
