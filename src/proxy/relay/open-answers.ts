import { Injectable } from '@nestjs/common';

/** An answer that its client does not have whole. */
export interface OpenAnswer {
  /** Ends it because the service stops. */
  interrupt(): void;
}

/** The answers that are on their way to clients, to be ended by the service itself when it stops. */
@Injectable()
export class OpenAnswers {
  readonly #open = new Set<OpenAnswer>();
  #stopping = false;

  /** From here on no answer may begin. */
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
