/** What a release can't say, and the words of which one is in the name of a member that would say it. */
const FOREIGN: readonly (readonly [what: string, word: RegExp])[] = [
  ["header rule", /^(?:headers?)$/],
  ["query rule", /^(?:query|params?|parameters)$/],
  ["retry policy", /^(?:retry|retries|backoff)$/],
  ["timeout policy", /^(?:timeouts?|deadlines?)$/],
  ["rate policy", /^(?:rate|quota|throttle|throttling|ratelimits?)$/],
  ["region policy", /^(?:regions?|zones?)$/],
  ["health policy", /^(?:health|healthcheck|heartbeat|liveness|probes?)$/],
  ["host list", /^(?:hosts?|hostnames?|domains?|origins?|allowlist)$/],
  ["endpoint", /^(?:endpoints?|url|uri|baseurl|address|port|path|server|proxy)$/],
];

/**
 * Why a release has no member of this name. What is meant is guessed from the words in the name, for people; it is refused
 * whatever they are.
 */
export function explainForeignMember(name: string): string {
  const words = name
    .slice(0, 128)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  const said = FOREIGN.find(([, word]) => words.some((each) => word.test(each)));
  const what = said === undefined ? "not a member of a release" : `a release holds no ${said[0]}`;
  return `${what}; how a connector is reached is said by the gateway's binding`;
}
