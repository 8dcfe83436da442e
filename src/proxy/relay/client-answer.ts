import type { ServerResponse } from 'node:http';
import { cutAnswer } from '../../common/http/connections/cut-answer.js';
import type { AnswerBatch } from './answer-batch.js';

/** What a relayed answer begins with. Text that HTTP cannot carry must have been taken out. */
export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  /** Flat list of names and values; the answer adds to it. */
  readonly headers: string[];
  /** The whole body's length where the provider named it and we do not change it. */
  readonly bodyBytes: number | undefined;
}

/**
 * The client's side of a relayed answer. The head waits for the first bytes of the body, but never longer than the
 * current turn of the event loop, so that a short answer leaves in one write and a stream's head leaves at once.
 */
export class ClientAnswer {
  #head: AnswerHead | undefined;
  /** A byte has left, or is about to: nobody may answer differently any more. */
  #begun = false;
  /** The whole body is on its way. */
  #finished = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly batch: AnswerBatch,
  ) {}

  begin(head: AnswerHead): void {
    this.#head = head;
    queueMicrotask(() => {
      if (this.#head !== undefined && !this.response.destroyed) {
        this.#writeHead();
        this.response.flushHeaders();
      }
    });
  }

  /** @returns false when the client should be given time to read; see `whenDrained`. */
  write(bytes: Buffer): boolean {
    if (this.#head?.bodyBytes === bytes.length) {
      this.#head.headers.push('content-length', String(bytes.length));
      this.#writeHead();
      this.#finished = true;
      this.batch.end(this.response, bytes);
      return true;
    }
    if (this.#head !== undefined) this.#writeHead();
    return this.response.write(bytes);
  }

  whenDrained(resume: () => void): void {
    this.response.once('drain', resume);
  }

  /** The answer is complete. */
  end(): void {
    if (this.#head !== undefined) this.#writeHead();
    if (!this.#finished && !this.response.writableEnded) this.response.end();
  }

  /** The answer cannot be completed: the connection is cut, so that it does not look complete. */
  cut(): void {
    this.#head = undefined;
    cutAnswer(this.response);
  }

  /** Takes back a head that has not left, so that a refusal can be answered instead. */
  takeBack(): boolean {
    if (this.#begun) return false;
    this.#head = undefined;
    return true;
  }

  #writeHead(): void {
    if (this.#head === undefined) return;
    const { status, statusText, headers } = this.#head;
    this.#head = undefined;
    this.#begun = true;
    this.response.writeHead(status, statusText, headers);
  }
}
