import picomatch from "picomatch/posix.js";
import { refuseOption, refuseUnknownOptions } from "../../options.js";

/**
 * What agents may reach at all, by globs over `<connector key>/<native name>`; of a resource, its URI stands for the name.
 * `*` stands for any text, slashes included: `github/*` is everything of one connector, `**delete*` such tools of each.
 */
export interface AccessGlobs {
  /** Only what one of these matches, case and all, may be reached. Everything when left out. */
  readonly allow?: readonly string[] | undefined;
  /** What one of these matches, in any case, may not be reached, whatever `allow` says. Nothing when left out. */
  readonly deny?: readonly string[] | undefined;
}

/** Whether a subject may be reached. Pure. */
export type AccessTest = (subject: string) => boolean;

const MAX_GLOBS = 1_024;
const MAX_LENGTH = 1_024;

/**
 * Compiles globs. Throws `invalid_options` for unknown keys, for what is no list of texts, and for more than 1,024 globs or
 * longer ones than 1,024 characters.
 */
export function compileAccessGlobs(globs: AccessGlobs = {}): AccessTest {
  refuseUnknownOptions(globs, ["allow", "deny"]);
  const allow = globs.allow === undefined ? undefined : matcher("allow", globs.allow, false);
  const deny = matcher("deny", globs.deny ?? [], true);
  return (subject) => !deny(subject) && (allow === undefined || allow(subject));
}

function matcher(option: "allow" | "deny", globs: readonly string[], nocase: boolean): AccessTest {
  const isList = Array.isArray(globs) && globs.length <= MAX_GLOBS && globs.every(isGlob);
  if (!isList) refuseOption(option, "must be a list of at most 1,024 globs of 1 to 1,024 characters");
  // One by one: joined, a negated glob would speak for all of them. `posix`: a backslash is no slash on any system.
  const tests = globs.map((glob) => picomatch(glob, { bash: true, dot: true, nocase, nonegate: true }));
  return (subject) => tests.some((test) => test(subject));
}

function isGlob(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_LENGTH;
}
