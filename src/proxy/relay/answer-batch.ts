import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';

interface FinishedAnswer {
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** Above this size, converting a body to text costs more than the second write it saves. */
const MAX_TEXT_BYTES = 8 * 1024;

/**
 * Sends complete answers: the first of an event loop turn immediately, the others of the same turn together at its end.
 * Consecutive writes wake the receivers once; writes spread over the turn cost one wake-up each. Measured: a tenth of
 * the cost of a call. No answer waits longer than its turn.
 */
@Injectable()
export class AnswerBatch {
  #waiting: FinishedAnswer[] | undefined;

  /** Ends an answer with its complete body; the head must be set. */
  end(response: ServerResponse, body: Buffer): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push({ response, body });
      return;
    }
    this.#waiting = [];
    setImmediate(() => this.#sendWaiting());
    send({ response, body });
  }

  #sendWaiting(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const answer of waiting) send(answer);
  }
}

/** Node sends a short text body and the head in one write; latin1 preserves every byte. */
function send({ response, body }: FinishedAnswer): void {
  if (body.length <= MAX_TEXT_BYTES) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}
