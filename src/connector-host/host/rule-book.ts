import { type CatalogEntry, type ConnectorCatalog, type KeptRules, ruledSubject } from "../catalog/index.js";
import { areListedAlike, areSameRules, isNarrower, permissionIn, type PermissionSource } from "../permissions/index.js";
import {
  askAgain,
  changeRules,
  type PermissionRules,
  type RuleChange,
  type RuleOverride,
  tableFrom,
  type ToolPermission,
} from "../registration/index.js";
import { REGISTERED } from "./registration-admin.js";

export interface RuleBookOptions {
  readonly catalog: ConnectorCatalog;
  /** What is kept beside the definitions, by key; `undefined` for what can't be read: everything of such a connector is off. */
  readonly kept: ReadonlyMap<string, KeptRules | undefined>;
  /** For tools of releases of which nobody decided anything. */
  readonly newReleaseTools: ToolPermission;
}

/** The rules of a connector as they are. Another object after each change. */
interface PresentRules extends PermissionRules {
  readonly version: number;
}

/** A decision that is in effect and not kept yet. */
interface HeldChange {
  readonly turn: number;
  readonly change: RuleChange;
}

/** Told of a change of a connector's rules. `isListedAlike`: it takes no tool into lists, or out of them. */
export type RuleListener = (connectorKey: string, isListedAlike: boolean) => void;

/**
 * What may be done with the tools of each connector now: what its definition says, what a person decided otherwise, and what they
 * forbade that is not kept yet. Readers see each change at once, with another version. No IO.
 */
export class RuleBook implements PermissionSource {
  readonly #catalog: ConnectorCatalog;
  readonly #kept: Map<string, KeptRules | undefined>;
  readonly #ofReleases: PermissionRules;
  readonly #held = new Map<string, readonly HeldChange[]>();
  readonly #present = new Map<string, PresentRules>();
  readonly #listeners = new Set<RuleListener>();
  /** Raised by each change, so that a connector that comes back has another one, too. */
  #versions = 0;
  #turns = 0;

  constructor({ catalog, kept, newReleaseTools }: RuleBookOptions) {
    this.#catalog = catalog;
    this.#kept = new Map(kept);
    this.#ofReleases = { newTools: newReleaseTools, permissions: NO_PERMISSIONS };
    for (const key of catalog.keys) this.#refresh(key);
    catalog.onChange((key) => this.#refresh(key));
  }

  rulesOf(key: string): PermissionRules | undefined {
    return this.#present.get(key);
  }

  versionOf(key: string): number | undefined {
    return this.#present.get(key)?.version;
  }

  /** Calls `listener` after each change of the rules of a connector that stays. It must not throw. */
  onChange(listener: RuleListener): void {
    this.#listeners.add(listener);
  }

  /** What is decided of a connector beside its definition. */
  overrideOf(entry: CatalogEntry): KeptRules {
    const subject = ruledSubject(entry);
    const kept = this.#kept.get(entry.key);
    if (kept !== undefined) return kept.subject === subject ? kept : { ...askAgain(kept), subject };
    if (!this.#kept.has(entry.key)) return { ...NOTHING_DECIDED, subject };
    // What a person forbade is not known any more: nothing that there may be is allowed.
    const off = Object.keys(this.#defined(entry).permissions).map((name) => [name, "off"] as const);
    return { subject, newTools: "off", permissions: tableFrom(off) };
  }

  /** What is decided beside the definition is this from now on; `undefined`: nothing. */
  setOverride(key: string, rules: KeptRules | undefined): void {
    if (rules === undefined) this.#kept.delete(key);
    else this.#kept.set(key, rules);
    this.#refresh(key);
  }

  /**
   * Somebody decided this. If it permits less, it is in effect when this returns. The number that is answered belongs to it, and is
   * for {@link settle}.
   */
  begin(entry: CatalogEntry, change: RuleChange): number {
    this.#turns += 1;
    const held = this.#narrowing(entry, change);
    if (held !== undefined) {
      this.#held.set(entry.key, [...(this.#held.get(entry.key) ?? []), { turn: this.#turns, change: held }]);
      this.#refresh(entry.key);
    }
    return this.#turns;
  }

  /** A decision is kept: what was decided of the same tools before it is over. */
  settle(key: string, change: RuleChange, turn: number): void {
    const left = this.#held.get(key)?.filter((held) => held.turn > turn || !areOfSame(held.change, change)) ?? [];
    if (left.length === 0) this.#held.delete(key);
    else this.#held.set(key, left);
    this.#refresh(key);
  }

  /** The change as it stands by itself, if it permits less than what is; `undefined` when it does not. */
  #narrowing(entry: CatalogEntry, change: RuleChange): RuleChange | undefined {
    const present = this.#present.get(entry.key);
    if (present === undefined) return undefined;
    if (change.kind === "new_tools") return isNarrower(change.permission, present.newTools) ? change : undefined;
    const { kind, nativeName } = change;
    const permission = permissionIn(this.#decided(entry, change), nativeName);
    const isHeld = isNarrower(permission, permissionIn(present, nativeName));
    return isHeld ? { kind, nativeName, permission } : undefined;
  }

  #refresh(key: string): void {
    const entry = this.#catalog.get(key);
    const before = this.#present.get(key);
    if (entry === undefined) {
      this.#present.delete(key);
      this.#held.delete(key);
      return;
    }
    const held = this.#held.get(key) ?? [];
    const rules = held.reduce((each, { change }) => changeRules(each, change), this.#decided(entry));
    if (before !== undefined && areSameRules(before, rules)) return;
    this.#versions += 1;
    this.#present.set(key, Object.freeze({ ...rules, version: this.#versions }));
    if (before === undefined) return;
    const isListedAlike = areListedAlike(before, rules);
    for (const listener of this.#listeners) listener(key, isListedAlike);
  }

  /** What the definition and people say; `change`: as it would be with this, too. */
  #decided(entry: CatalogEntry, change?: RuleChange): PermissionRules {
    const defined = this.#defined(entry);
    if (entry.place === REGISTERED) return change === undefined ? defined : changeRules(defined, change);
    const override = this.overrideOf(entry);
    return overlaid(defined, change === undefined ? override : changeRules(override, change));
  }

  #defined(entry: CatalogEntry): PermissionRules {
    if (entry.kind === "release") return this.#ofReleases;
    return entry.connector.kind === "stdio" ? entry.connector.connector : entry.connector.registration;
  }
}

const NO_PERMISSIONS = tableFrom<ToolPermission>([]);
const NOTHING_DECIDED: RuleOverride = { newTools: undefined, permissions: NO_PERMISSIONS };

function overlaid(defined: PermissionRules, override: RuleOverride): PermissionRules {
  return {
    newTools: override.newTools ?? defined.newTools,
    permissions: tableFrom([...Object.entries(defined.permissions), ...Object.entries(override.permissions)]),
  };
}

/** Whether two decisions are about the same tools. */
function areOfSame(one: RuleChange, other: RuleChange): boolean {
  if (one.kind === "new_tools" || other.kind === "new_tools") return one.kind === other.kind;
  return one.nativeName === other.nativeName;
}
