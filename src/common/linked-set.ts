/** A member of one {@link LinkedSet}, which alone sets these fields. */
export interface Linked<Member> {
  older: Member | undefined;
  newer: Member | undefined;
  isLinked: boolean;
}

/**
 * A set in the order of its additions, for members that come and go with every call. A `Set` used this way leaves a
 * chain of former hash tables, each with a reference to the next: once the first is old, the garbage collector promotes
 * all that follow, with every member that they ever had, until the next full collection.
 */
export class LinkedSet<Member extends Linked<Member>> implements Iterable<Member> {
  #oldest: Member | undefined;
  #newest: Member | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a member as the newest; moves one that is there already. */
  add(member: Member): void {
    this.delete(member);
    member.older = this.#newest;
    member.isLinked = true;
    if (this.#newest === undefined) this.#oldest = member;
    else this.#newest.newer = member;
    this.#newest = member;
    this.#size++;
  }

  /** @returns whether it was a member. */
  delete(member: Member): boolean {
    if (!member.isLinked) return false;
    const { older, newer } = member;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    member.older = undefined;
    member.newer = undefined;
    member.isLinked = false;
    this.#size--;
    return true;
  }

  /** From the oldest to the newest; members must not change meanwhile. */
  *[Symbol.iterator](): Iterator<Member> {
    for (let member = this.#oldest; member !== undefined; member = member.newer) yield member;
  }
}
