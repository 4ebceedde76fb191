import { ChallengeScanner } from "./challenge-scanner.js";

/** One challenge of a `WWW-Authenticate` header. */
export interface AuthenticationChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** What stands in the place of parameters; `undefined`: nothing does. */
  readonly token68: string | undefined;
  /** Names, in lower case, and values without their quotes, in order. A name may be there several times. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** How much of all fields is read, in characters. What HTTP libraries take for a header is less. */
const MAX_CHARACTERS = 64 * 1024;

interface OpenChallenge {
  readonly scheme: string;
  token68: string | undefined;
  readonly parameters: (readonly [string, string])[];
}

/**
 * Reads the fields of `WWW-Authenticate`: several challenges in one field, one challenge over several fields, which are one list,
 * parameters in quotes with commas and escapes, spaces around `=`, commas with nothing between them. Total: what fits nowhere is
 * passed over, and what can still be read after it is; values without quotes may be more than tokens, and commas between parameters or
 * challenges may be missing. Takes time in proportion to the text, of which it reads the first 64 Ki characters.
 *
 * Source: RFC 9110, Challenge and Response; Collected ABNF.
 */
export function parseWwwAuthenticate(fields: readonly string[]): readonly AuthenticationChallenge[] {
  const challenges: OpenChallenge[] = [];
  let left = MAX_CHARACTERS;
  for (const field of fields) {
    if (left <= 0) break;
    readField(new ChallengeScanner(field.slice(0, left)), challenges);
    left -= field.length;
  }
  return challenges;
}

/** Goes on with the last of `challenges`, and adds to them. */
function readField(scanner: ChallengeScanner, challenges: OpenChallenge[]): void {
  while (!scanner.isAtEnd) {
    if (scanner.skipSpace() || scanner.skipComma()) continue;
    const name = scanner.readToken();
    if (name === "") scanner.skipGarbage();
    else if (scanner.skipEquals()) addParameter(challenges.at(-1), name, scanner.readValue());
    else challenges.push({ scheme: name.toLowerCase(), token68: readToken68(scanner), parameters: [] });
  }
}

/** The first challenge may be missing: what follows no scheme belongs to nothing. */
function addParameter(challenge: OpenChallenge | undefined, name: string, value: string | undefined): void {
  if (challenge !== undefined && value !== undefined) challenge.parameters.push([name.toLowerCase(), value]);
}

function readToken68(scanner: ChallengeScanner): string | undefined {
  return scanner.skipSpace() ? scanner.readToken68() : undefined;
}
