import type { LegacyCallOptions, LegacyClient } from "../legacy-client/index.js";

/** That somebody wants to hear of a resource. */
export interface ResourceClaim {
  readonly uri: string;
  /** Whether the server tells of it. Never rejects. */
  readonly isTaken: Promise<boolean>;
  /** Nobody of this claim wants it any more. Idempotent. */
  release(): void;
}

interface WantedResource {
  claims: number;
  readonly isTaken: Promise<boolean>;
  /** Gives up the asking. */
  readonly over: AbortController;
}

/**
 * The resources of one legacy session that somebody wants to hear of: the server is told once of each, however many want it, and
 * once more when nobody is left.
 */
export class WantedResources {
  readonly #client: LegacyClient;
  readonly #wanted = new Map<string, WantedResource>();

  constructor(client: LegacyClient) {
    this.#client = client;
  }

  /** Of a resource that nobody wanted yet, the server is told under these options. */
  claim(uri: string, options: LegacyCallOptions): ResourceClaim {
    const wanted = this.#wanted.get(uri) ?? this.#subscribe(uri, options);
    wanted.claims += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      wanted.claims -= 1;
      if (wanted.claims === 0) this.#unsubscribe(uri, wanted);
    };
    return { uri, isTaken: wanted.isTaken, release };
  }

  has(uri: unknown): boolean {
    return typeof uri === "string" && this.#wanted.has(uri);
  }

  /** The session is over: the server need not be told of anything any more. */
  clear(): void {
    this.#wanted.clear();
  }

  #subscribe(uri: string, options: LegacyCallOptions): WantedResource {
    const over = new AbortController();
    const isTaken = this.#client.subscribeResource({ uri }, { ...options, signal: over.signal }).then(
      () => true,
      () => {
        // Whoever wants it next asks anew.
        if (this.#wanted.get(uri) === wanted) this.#wanted.delete(uri);
        return false;
      },
    );
    const wanted: WantedResource = { claims: 0, isTaken, over };
    this.#wanted.set(uri, wanted);
    return wanted;
  }

  #unsubscribe(uri: string, wanted: WantedResource): void {
    if (this.#wanted.get(uri) !== wanted) return;
    this.#wanted.delete(uri);
    wanted.over.abort();
    void wanted.isTaken.then((isTaken) => {
      if (isTaken && !this.#wanted.has(uri)) this.#client.unsubscribeResource({ uri }).catch(ignore);
    });
  }
}

function ignore(): void {
  // There is nobody left to tell.
}
