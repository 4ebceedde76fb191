/** What a refused request's `WWW-Authenticate` says. */
export { type AuthenticationChallenge, parseWwwAuthenticate } from "./parse-www-authenticate.js";
export { readChallenges } from "./read-challenges.js";
