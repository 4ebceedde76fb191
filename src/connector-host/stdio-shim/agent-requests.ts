import type { RequestId } from "../../protocol/index.js";

/** The requests of one line of the agent. */
export interface AgentRequest {
  readonly ids: readonly RequestId[];
  /** It goes on until somebody ends it. */
  readonly isSubscription: boolean;
  /** Ends it without a word to the agent. */
  abort(): void;
}

/** The requests of the agent that are under way, by id. */
export class AgentRequests<R extends AgentRequest> {
  readonly #byId = new Map<RequestId, R>();
  readonly #all = new Set<R>();
  readonly #onRemoved: () => void;

  /** `onRemoved` is told of every request that is over. */
  constructor(onRemoved: () => void) {
    this.#onRemoved = onRemoved;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether one of the ids is that of a request that is under way. */
  holdsAny(ids: readonly RequestId[]): boolean {
    return ids.some((id) => this.#byId.has(id));
  }

  add(request: R): void {
    this.#all.add(request);
    for (const id of request.ids) this.#byId.set(id, request);
  }

  get(id: RequestId): R | undefined {
    return this.#byId.get(id);
  }

  remove(request: R): void {
    this.#all.delete(request);
    this.freeIds(request);
    this.#onRemoved();
  }

  /** From now on its ids may be used again. */
  freeIds(request: R): void {
    for (const id of request.ids) if (this.#byId.get(id) === request) this.#byId.delete(id);
  }

  abortSubscriptions(): void {
    for (const request of this.#all) if (request.isSubscription) request.abort();
  }

  abortAll(): void {
    for (const request of this.#all) request.abort();
  }
}
