import { Injectable } from '@nestjs/common';

/** An answer that its client has not received completely. */
export interface OpenAnswer {
  /** Ends the answer because the process is stopping. */
  interrupt(): void;
}

/** Answers in progress, which the process interrupts when it stops. */
@Injectable()
export class OpenAnswers {
  readonly #open = new Set<OpenAnswer>();
  #stopping = false;

  /** True once shutdown has begun: no new answer may start. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  add(answer: OpenAnswer): void {
    this.#open.add(answer);
  }

  delete(answer: OpenAnswer): void {
    this.#open.delete(answer);
  }

  interruptAll(): void {
    this.#stopping = true;
    for (const answer of [...this.#open]) answer.interrupt();
  }
}
