/** Words that name a credential also as the end of a longer one. */
const ENDINGS =
  /(?:authorization|token|tokens|secret|secrets|password|passwd|passphrase|apikey|credential|credentials|cookie)$/;
/** Words that do so only by themselves. */
const WORDS = new Set(["auth", "jwt", "key", "keys", "pass", "pat", "pwd"]);

/** The last word is at the end, and a name may be as long as whoever wrote it likes. */
const LOOKED_AT = 256;

/**
 * Whether a header or a variable of this name holds a credential, by the last word in it: `Authorization`, `X-API-Key`,
 * `GITHUB_TOKEN`, but not `TOKEN_FILE`. A guess: it decides that a text is kept apart, never that one may be shown.
 */
export function namesCredential(name: string): boolean {
  const words = name
    .slice(-LOOKED_AT)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/\d+$/, ""))
    .filter((word) => word !== "");
  const last = words.at(-1);
  return last !== undefined && (WORDS.has(last) || ENDINGS.test(last));
}
