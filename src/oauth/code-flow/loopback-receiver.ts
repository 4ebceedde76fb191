import { choiceOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { isRemoteConnectorError } from "../../errors.js";
import { type Clock, systemClock } from "../../transport/index.js";
import type { CallbackReceiver, CallbackSession } from "../interaction.js";
import type { CallbackOutcome } from "./callback-page.js";
import { listenFailed } from "./loopback-listener.js";
import { type LoopbackPlace, loopbackPlaces, redirectUriOf } from "./loopback-place.js";
import { LoopbackSession } from "./loopback-session.js";

/** How {@link loopbackReceiver} listens where no redirect URI is registered yet. */
export interface LoopbackReceiverOptions {
  /** Default 0: any that is free. */
  readonly port?: number | undefined;
  /** Default `/callback`. */
  readonly path?: string | undefined;
  /** Default `127.0.0.1`. `localhost` is for authorization servers that take no address; it listens on both of its addresses. */
  readonly host?: "127.0.0.1" | "localhost" | "::1" | undefined;
  /** Makes the whole page that a person sees at the end, which can load and run nothing. Default: one sentence. */
  readonly html?: ((outcome: CallbackOutcome) => string) | undefined;
  readonly clock?: Clock | undefined;
}

const KNOWN = ["port", "path", "host", "html", "clock"] as const satisfies readonly (keyof LoopbackReceiverOptions)[];

/**
 * Waits for browsers on this machine's loopback, only while a session is open.
 *
 * Without registered redirect URIs the place is that of the options, `http://127.0.0.1:PORT/callback`. With some it is the first of
 * them that can be listened on, with its host, port and path: the URI is sent as it was registered. `redirectUris` is empty unless a
 * port is given, since no registration could name one that is not known yet.
 *
 * Throws `invalid_options`. Source: RFC 8252, Loopback Interface Redirection; OAuth 2.1, Native Applications.
 */
export function loopbackReceiver(options: LoopbackReceiverOptions = {}): CallbackReceiver {
  refuseUnknownOptions(options, KNOWN);
  const own = resolvePlace(options);
  const { clock = systemClock } = options;
  const html = functionOption<LoopbackReceiverOptions["html"]>("html", options.html, undefined);
  return {
    redirectUris: own.port === 0 ? [] : [redirectUriOf(own, own.port)],
    open: (registered) =>
      openFirst(registered === undefined ? [own] : loopbackPlaces(registered), (place) =>
        LoopbackSession.open(place, { clock, html }),
      ),
  };
}

/** Rejects with `listen_failed`: with that of the first place, when there is any. */
async function openFirst(
  places: readonly LoopbackPlace[],
  open: (place: LoopbackPlace) => Promise<CallbackSession>,
): Promise<CallbackSession> {
  let failure: unknown = listenFailed("127.0.0.1", "no registered redirect URI is plain http on loopback");
  for (const [index, place] of places.entries()) {
    try {
      return await open(place);
    } catch (error) {
      if (!isRemoteConnectorError(error, "listen_failed")) throw error;
      if (index === 0) failure = error;
    }
  }
  throw failure;
}

function resolvePlace({ host, path = "/callback", port = 0 }: LoopbackReceiverOptions): LoopbackPlace {
  const name = choiceOption("host", host, ["127.0.0.1", "localhost", "::1"]);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    refuseOption("port", "must be a whole number from 0 to 65535");
  if (!isPath(path)) refuseOption("path", "must be a path as URLs have it, from its first slash, without a query");
  return { hostname: name === "::1" ? "[::1]" : name, port, path, registered: undefined };
}

function isPath(value: string): boolean {
  const text = `http://127.0.0.1${value}`;
  return typeof value === "string" && value.startsWith("/") && URL.canParse(text) && new URL(text).pathname === value;
}
