import type { ServerResponse } from 'node:http';
import { completeRelayedHead } from '../../client-auth/origins/cross-origin.rules.js';
import { cutAnswer } from '../../common/http/connections/cut-answer.js';
import { MAX_COPIED_BYTES } from '../connections/provider-connection.js';
import { Heartbeat } from './heartbeat.js';

/** Head of a relayed answer. It contains no text that HTTP cannot carry: `parseResponseHead` refuses it. */
export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  /** Flat list of names and values; the answer appends to it. */
  readonly headers: string[];
  /** Length of the body where the provider states it and the gateway does not change it. */
  readonly bodyBytes: number | undefined;
}

const LINE_END = '\r\n';

/**
 * Writes a chunk with its frame (RFC 9112 section 7.1) in one piece. Node would write the frame in three further
 * pieces, which costs more than the copy; without `chunkedEncoding` it writes what it is given.
 */
function writeChunk(response: ServerResponse, bytes: Buffer): boolean {
  if (bytes.length === 0) return true;
  const start = bytes.length.toString(16) + LINE_END;
  const chunk = Buffer.allocUnsafe(start.length + bytes.length + LINE_END.length);
  chunk.write(start, 'latin1');
  bytes.copy(chunk, start.length);
  chunk.write(LINE_END, start.length + bytes.length, 'latin1');
  response.chunkedEncoding = false;
  try {
    return response.write(chunk);
  } finally {
    response.chunkedEncoding = true;
  }
}

/** Node sends a short text body and the head in one write; latin1 preserves every byte. */
function endWith(response: ServerResponse, body: Buffer): void {
  if (body.length <= MAX_COPIED_BYTES) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}

/**
 * The client side of a relayed answer. The head waits for the first bytes of the body, but no longer than the current
 * event loop turn, so that a short answer is sent in one write and the head of a stream immediately.
 */
export class ClientAnswer {
  #head: AnswerHead | undefined;
  /** The head has been sent or is about to be; no other answer is possible. */
  #begun = false;
  /** The complete body has been handed over. */
  #finished = false;
  #heartbeat: Heartbeat | undefined;

  constructor(private readonly response: ServerResponse) {}

  begin(head: AnswerHead): void {
    this.#head = head;
    queueMicrotask(() => {
      if (this.#head !== undefined && !this.response.destroyed) {
        this.#writeHead();
        this.response.flushHeaders();
      }
    });
  }

  /** @returns false under backpressure from the client; see `whenDrained`. */
  write(bytes: Buffer): boolean {
    this.#heartbeat?.sent(bytes);
    if (this.#head?.bodyBytes === bytes.length) {
      this.#head.headers.push('content-length', String(bytes.length));
      this.#writeHead();
      this.#finished = true;
      endWith(this.response, bytes);
      return true;
    }
    if (this.#head !== undefined) this.#writeHead();
    const isShort = bytes.length <= MAX_COPIED_BYTES;
    return isShort && this.response.chunkedEncoding ? writeChunk(this.response, bytes) : this.response.write(bytes);
  }

  whenDrained(resume: () => void): void {
    this.response.once('drain', resume);
  }

  /** Sends comments while nothing is written, in an event stream. */
  beat(everyMs: number): void {
    this.#heartbeat = new Heartbeat(this.response, everyMs);
  }

  /** Completes the answer. */
  end(): void {
    if (this.#head !== undefined) this.#writeHead();
    if (!this.#finished && !this.response.writableEnded) this.response.end();
  }

  /** Destroys the connection of an answer that cannot be completed, so that it does not look complete. */
  cut(): void {
    this.#head = undefined;
    cutAnswer(this.response);
  }

  /** Discards a head that has not been sent, so that a refusal can be sent instead. @returns false when it was sent. */
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
    completeRelayedHead(this.response, headers);
    this.response.writeHead(status, statusText, headers);
  }
}
