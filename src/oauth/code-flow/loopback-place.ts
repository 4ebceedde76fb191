import { isLoopback } from "../../transport/index.js";

/** Where a listener is to be reached. */
export interface LoopbackPlace {
  /** As URLs write it: `127.0.0.1`, `localhost`, `[::1]`. */
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly path: string;
  /** The redirect URI as it was registered, character by character; `undefined`: it follows from the rest. */
  readonly registered: string | undefined;
}

/**
 * The places that a list of registered redirect URIs names, in its order. Those that are not plain http on loopback are left out:
 * nobody can listen there. A URI without a port means port 80, as everywhere. Pure.
 */
export function loopbackPlaces(registered: readonly string[]): readonly LoopbackPlace[] {
  return registered.flatMap((text) => {
    if (!URL.canParse(text)) return [];
    const { hash, hostname, password, pathname, port, protocol, username } = new URL(text);
    if (protocol !== "http:" || !isLoopback(hostname) || `${username}${password}${hash}` !== "") return [];
    return [{ hostname, port: port === "" ? 80 : Number(port), path: pathname, registered: text }];
  });
}

/**
 * The addresses to listen on: a browser may try either one for `localhost`, and where only one were taken, another program of this
 * machine could wait for the code on the other. Pure.
 */
export function addressesOf({ hostname }: LoopbackPlace): readonly string[] {
  if (hostname === "localhost") return ["127.0.0.1", "::1"];
  return [hostname === "[::1]" ? "::1" : hostname];
}

/** What is sent as `redirect_uri` once the port is known. Pure. */
export function redirectUriOf({ hostname, path, registered }: LoopbackPlace, port: number): string {
  return registered ?? new URL(`http://${hostname}:${String(port)}${path}`).href;
}
