import { seeded } from './seeded.js';

/** Random decisions, repeatable by a seed. */
export class Chance {
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** A whole number from 0 up to `end`, without it. */
  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** True in `share` of all cases. */
  is(share: number): boolean {
    return this.random() < share;
  }

  /** One entry of a list that has some. */
  of<T>(list: readonly T[]): T {
    const entry = list[this.below(list.length)];
    if (entry === undefined) throw new Error('nothing to choose from');
    return entry;
  }
}
