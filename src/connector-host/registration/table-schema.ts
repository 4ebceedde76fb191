import { z } from "zod";

/** Values by name, frozen, its names sorted by code unit. It has no prototype: every name is a name like any other. */
export type Table<V> = Readonly<Record<string, V>>;

export interface TableRules {
  readonly maxEntries: number;
  /** Why a name can't be one; `undefined` when it can. `others` are the names before it. */
  readonly refuseName?: (name: string, others: ReadonlySet<string>) => string | undefined;
}

/**
 * The schema of an object whose members are named by whoever wrote it, and all have the shape of `value`. A fault is told at the
 * path of its member.
 */
export function tableOf<S extends z.ZodType>(value: S, rules: TableRules): z.ZodType<Table<z.output<S>>> {
  return z.custom<object>(isObject, "must be an object").transform((source, context) => {
    const entries = Object.entries(source);
    if (entries.length > rules.maxEntries) {
      context.addIssue({ code: "custom", message: `must have at most ${String(rules.maxEntries)} members` });
      return z.NEVER;
    }
    const seen = new Set<string>();
    const read: [string, z.output<S>][] = [];
    for (const [name, member] of entries) {
      const reason = rules.refuseName?.(name, seen);
      if (reason !== undefined) context.addIssue({ code: "custom", path: [name], message: reason });
      seen.add(name);
      const parsed = value.safeParse(member);
      if (parsed.success) read.push([name, parsed.data]);
      else for (const issue of parsed.error.issues) context.issues.push(within(name, issue));
    }
    return tableFrom(read);
  });
}

/** A table of these entries. Of two with the same name the later one counts. */
export function tableFrom<V>(entries: Iterable<readonly [string, V]>): Table<V> {
  const table: Record<string, V> = Object.create(null);
  for (const [name, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) table[name] = value;
  return Object.freeze(table);
}

/** What is wrong with a member, as a fault of the whole. That a member is unknown has to stay visible. */
function within(name: string, issue: z.core.$ZodIssue): z.core.$ZodRawIssue {
  const path = [name, ...issue.path];
  return issue.code === "unrecognized_keys"
    ? { code: issue.code, keys: issue.keys, input: {}, path }
    : { code: "custom", message: issue.message, input: undefined, path };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
