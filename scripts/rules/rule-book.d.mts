/** One requirement, in our own words. It is claimed unless something is missing: what of it no test shows. */
export interface Rule {
  readonly rule: string;
  readonly says: string;
  readonly missing?: string | undefined;
}

/** A group of requirements; a claimed one is what this version undertakes. */
export interface Group {
  readonly letter: string;
  readonly title: string;
  readonly claimed: boolean;
  readonly rules: readonly Rule[];
}

export function readRuleBook(): readonly Group[];
