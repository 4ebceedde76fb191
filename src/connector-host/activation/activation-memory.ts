import type { CheckedToolList } from "./tool-list.js";

/** What a remembered list is good for. Any difference is a miss. */
export interface ActivationIdentity {
  readonly accountId: string;
  readonly connectorKey: string;
  readonly releaseDigest: string;
  /** The local connection id. */
  readonly connectionId: string;
  readonly connectionVersion: bigint;
  /** Revision of the snapshot that the activation rests on. */
  readonly serverRevision: bigint;
}

const LEAST_CAPACITY = 256;

/**
 * The lists of this process's successful activations, so that one that comes again for the same identity need not walk the
 * list once more. It never answers an agent, and is never written to disk.
 *
 * It belongs to one login at a time: another login drops all of it, and what an activation of an earlier login brings late
 * is not taken. It holds as many lists as routes are published, and at least 256; the one not used for longest goes first.
 */
export class ActivationMemory {
  readonly #publishedRoutes: () => number;
  /** The least recently used first. */
  readonly #lists = new Map<string, CheckedToolList>();
  #loginGeneration: number | undefined;
  #isClosed = false;

  /** `publishedRoutes` is asked at each write. */
  constructor(publishedRoutes: () => number = () => 0) {
    this.#publishedRoutes = publishedRoutes;
  }

  get size(): number {
    return this.#lists.size;
  }

  /** From now on it holds lists of this login only; `undefined`: of none. */
  switchLogin(loginGeneration: number | undefined): void {
    if (this.#loginGeneration === loginGeneration) return;
    this.#lists.clear();
    this.#loginGeneration = loginGeneration;
  }

  find(identity: ActivationIdentity, loginGeneration: number): CheckedToolList | undefined {
    if (loginGeneration !== this.#loginGeneration) return undefined;
    const key = keyOf(identity);
    const list = this.#lists.get(key);
    if (list === undefined) return undefined;
    this.#lists.delete(key);
    this.#lists.set(key, list);
    return list;
  }

  /** Answers whether the list was taken: not an empty one, not one of another login, not after `close`. */
  remember(identity: ActivationIdentity, loginGeneration: number, list: CheckedToolList): boolean {
    if (this.#isClosed || loginGeneration !== this.#loginGeneration || list.tools.size === 0) return false;
    const key = keyOf(identity);
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const capacity = Math.max(LEAST_CAPACITY, this.#publishedRoutes());
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= capacity) break;
      this.#lists.delete(oldest);
    }
    return true;
  }

  /** Drops everything, for good. */
  close(): void {
    this.#isClosed = true;
    this.#loginGeneration = undefined;
    this.#lists.clear();
  }
}

function keyOf(identity: ActivationIdentity): string {
  return JSON.stringify([
    identity.accountId,
    identity.connectorKey,
    identity.releaseDigest,
    identity.connectionId,
    String(identity.connectionVersion),
    String(identity.serverRevision),
  ]);
}
