/** What can be in an {@link OpenList}. Only the list sets its links. */
export interface Linked<T> {
  next: T | undefined;
  previous: T | undefined;
}

/**
 * What is open just now, in the order in which it was opened. For members that come and go all the time, each in one list at a time.
 *
 * A `Set` of such members costs the collector dearly: tables that it has outgrown point to the ones that came after, so that one of
 * them in the old generation keeps alive whatever was open since, until the next full collection. A member that has left this list
 * points nowhere.
 */
export class OpenList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The one that is open the longest; the others follow by `next`. */
  get first(): T | undefined {
    return this.#first;
  }

  /** Adds one that is in no list. */
  add(member: T): void {
    member.previous = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.next = member;
    this.#last = member;
    this.#size += 1;
  }

  /** Whether it was in the list. */
  delete(member: T): boolean {
    const { next, previous } = member;
    if (previous === undefined && this.#first !== member) return false;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    member.next = undefined;
    member.previous = undefined;
    this.#size -= 1;
    return true;
  }

  /** A copy, so that members may leave while it is looked at. */
  toArray(): T[] {
    const members: T[] = [];
    for (let member = this.#first; member !== undefined; member = member.next) members.push(member);
    return members;
  }
}
