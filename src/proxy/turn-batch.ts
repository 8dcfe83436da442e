import { Injectable } from '@nestjs/common';

/** In the order in which they run: ends come before calls, which can then use the connections of the ended ones. */
export type Stage = 'heads' | 'bodies' | 'ends' | 'calls';

type Work = () => void;

/**
 * Collects what one event loop turn receives and runs it at its end, by stage instead of by call: the code and the data
 * of a stage are in the caches of the processor for all calls of the turn but the first, and answers that are written
 * in succession wake their receivers once (ADR 0050). A single call waits for nothing.
 */
@Injectable()
export class TurnBatch {
  #waiting = noWork();
  #isPlanned = false;

  /** @param work must not throw: the rest of the turn would not run. */
  add(stage: Stage, work: Work): void {
    this.#waiting[stage].push(work);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    const { heads, bodies, ends, calls } = this.#waiting;
    this.#waiting = noWork();
    this.#isPlanned = false;
    for (const stage of [heads, bodies, ends, calls]) for (const work of stage) work();
  }
}

function noWork(): Record<Stage, Work[]> {
  return { heads: [], bodies: [], ends: [], calls: [] };
}
