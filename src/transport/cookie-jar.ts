import { createRequire } from "node:module";
import type * as ToughCookie from "tough-cookie";
import type { Clock } from "./clock.js";
import type { ResponseHeaders } from "./exchange.js";

/** Cookies at once. The oldest makes room. */
export const MAX_COOKIES = 50;
/** The longest `Set-Cookie` that is looked at. Longer ones are passed over. */
export const MAX_COOKIE_BYTES = 4_096;
/** All names and values together, which is what a request carries at most. The oldest make room. */
export const MAX_JAR_BYTES = 16 * 1024;

/** The last moment that a date can name. */
const LAST_DATE_MS = 8.64e15;

/** What a header can carry. */
const VALUE = /^[\x20-\x7e\x80-\xff]*$/;

/**
 * The cookies of one origin, in memory. They are kept and sent as RFC 6265 says, by path, `Secure` and expiry; whatever
 * can't be kept is passed over, since a request without a cookie is still a request.
 *
 * Nothing here waits, and nothing shows a value.
 */
export class CookieJar {
  readonly #jar: ToughCookie.CookieJar;
  readonly #parse: (line: string) => ToughCookie.Cookie | undefined;
  readonly #now: () => number;
  /** Most requests of most clients have none to send. */
  #isEmpty = true;

  /** `clock` decides what has expired; the wall's time is read once. */
  constructor(clock: Clock) {
    // Loaded by those who want it: it costs as much time as the rest of a client.
    const tough: typeof ToughCookie = createRequire(import.meta.url)("tough-cookie");
    this.#jar = new tough.CookieJar();
    this.#parse = (line) => tough.Cookie.parse(line);
    const startedAt = Date.now() - clock.now();
    this.#now = () => startedAt + clock.now();
  }

  /** Keeps what an answer sets. `url` is where it came from. */
  store(headers: ResponseHeaders, url: URL): void {
    const given = headers["set-cookie"];
    if (given === undefined) return;
    for (const line of [given].flat()) {
      try {
        this.#keep(line, url);
      } catch {
        // The library has its own idea of what is a cookie of this host.
      }
    }
  }

  /** A flat list of headers, with those of a request to `url` at its end. */
  addTo(headers: string[], url: URL): string[] {
    const cookie = this.headerFor(url);
    return cookie === undefined ? headers : [...headers, "Cookie", cookie];
  }

  /** The value of `Cookie` for a request; `undefined` when there is none to send. */
  headerFor(url: URL): string | undefined {
    if (this.#isEmpty) return undefined;
    const now = this.#now();
    const fresh = this.#jar
      .getCookiesSync(url.href, { expire: false, sort: true })
      .filter((cookie) => !hasExpired(cookie, now));
    return fresh.length === 0 ? undefined : fresh.map((cookie) => cookie.cookieString()).join("; ");
  }

  #keep(line: string, url: URL): void {
    if (Buffer.byteLength(line) > MAX_COOKIE_BYTES) return;
    const cookie = this.#parse(line);
    if (cookie === undefined || !VALUE.test(cookie.cookieString())) return;
    // The library takes a name without a dot, such as that of a service, for a suffix. RFC 6265, 5.3: its own host may set it.
    if (cookie.domain === url.hostname && !cookie.key.startsWith("__Host-")) cookie.domain = null;
    const now = this.#now();
    // The library counts `Max-Age` from the last use, so that a cookie in use would never expire. It is the date that counts here.
    if (typeof cookie.maxAge === "number") {
      cookie.setExpires(new Date(Math.min(now + cookie.maxAge * 1_000, LAST_DATE_MS)));
    }
    this.#jar.setCookieSync(cookie, url.href, { ignoreError: true, now: new Date(now) });
    this.#makeRoom(now);
  }

  /** Removes what has expired, and the oldest of what is too much. */
  #makeRoom(now: number): void {
    const fresh: ToughCookie.Cookie[] = [];
    for (const cookie of this.#all()) {
      if (hasExpired(cookie, now)) this.#remove(cookie);
      else fresh.push(cookie);
    }
    // In the order in which they came.
    fresh.sort((a, b) => (a.creationIndex ?? 0) - (b.creationIndex ?? 0));
    let bytes = fresh.reduce((sum, cookie) => sum + cookie.cookieString().length, 0);
    let count = fresh.length;
    for (const cookie of fresh) {
      if (count <= MAX_COOKIES && bytes <= MAX_JAR_BYTES) break;
      this.#remove(cookie);
      bytes -= cookie.cookieString().length;
      count -= 1;
    }
    this.#isEmpty = count === 0;
  }

  #all(): readonly ToughCookie.Cookie[] {
    let all: readonly ToughCookie.Cookie[] = [];
    // The store in memory calls back at once.
    this.#jar.store.getAllCookies((_error, cookies) => (all = cookies ?? []));
    return all;
  }

  #remove({ domain, path, key }: ToughCookie.Cookie): void {
    this.#jar.store.removeCookie(domain, path, key, () => undefined);
  }
}

function hasExpired({ expires }: ToughCookie.Cookie, now: number): boolean {
  return expires instanceof Date && expires.getTime() <= now;
}
