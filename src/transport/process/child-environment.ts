/** Variables as Node hands them out: `undefined` stands for one that is not set. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface ChildEnvironmentInit {
  /** The environment of this process. */
  readonly inherited: EnvironmentVariables;
  /** What the host configured for the child. `undefined` takes an inherited variable away. */
  readonly configured: EnvironmentVariables;
  /** Hand on everything, instead of the variables that programs need in order to run at all. */
  readonly inheritEnvironment: boolean;
  readonly platform: NodeJS.Platform;
}

/** What a program needs to find its files, its user, its language and other programs. No secret is kept in these. */
const POSIX_NAMES = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
const POSIX_PREFIX = "LC_";

const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "OS",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/**
 * The environment of a child process: an allow-listed part of ours, with the configured variables over it.
 *
 * `PATH` is always among the inherited ones. On Windows names are compared without case, as Windows does. Of the allow-listed
 * ones those whose value is a shell function are left out. Pure.
 */
export function createChildEnvironment(init: ChildEnvironmentInit): Record<string, string> {
  const windows = init.platform === "win32";
  const environment = new Map<string, { readonly name: string; readonly value: string }>();
  const key = (name: string): string => (windows ? name.toUpperCase() : name);
  for (const [name, value] of Object.entries(init.inherited)) {
    if (value === undefined || (!init.inheritEnvironment && !isInherited(key(name), value, windows))) continue;
    environment.set(key(name), { name, value });
  }
  for (const [name, value] of Object.entries(init.configured)) {
    if (value === undefined) environment.delete(key(name));
    else environment.set(key(name), { name, value });
  }
  return Object.fromEntries([...environment.values()].map(({ name, value }) => [name, value]));
}

function isInherited(name: string, value: string, windows: boolean): boolean {
  if (value.startsWith("()")) return false;
  if (windows) return WINDOWS_NAMES.includes(name);
  return POSIX_NAMES.includes(name) || name.startsWith(POSIX_PREFIX);
}
