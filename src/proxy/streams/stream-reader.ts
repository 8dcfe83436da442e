import type { ServerResponse } from 'node:http';
import { completeRelayedHead } from '../../client-auth/origins/cross-origin.rules.js';
import { cutAnswer } from '../../common/http/connections/cut-answer.js';
import { Heartbeat } from '../relay/heartbeat.js';
import type { OpenAnswer, OpenAnswers } from '../relay/open-answers.js';
import { isEventStream } from '../relay/response-headers.rules.js';
import type { KeptStream } from './kept-stream.js';
import { STREAM_LENGTH_HEADER, STREAM_OFFSET_HEADER, STREAM_STATE_HEADER } from './stream-headers.js';

/** How a kept answer is sent. */
export interface Reading {
  /** Further headers, as a flat list of names and values. */
  readonly headers?: readonly string[];
  /** Selects which of the next bytes are sent; all of them if absent. */
  readonly select?: (bytes: Buffer) => Buffer | undefined;
}

/** What the service adds. */
interface ServedReading extends Reading {
  /** 0: no heartbeats. */
  readonly heartbeatMs: number;
  readonly onClose: () => void;
}

/** Stands for bytes that are not between two events. */
const UNKNOWN = '?';

/**
 * Sends a kept answer to one client, from an offset on, and the rest as it arrives. An incomplete answer is cut off, so
 * that it does not look complete (ADR 0030).
 */
export class StreamReader implements OpenAnswer {
  older: OpenAnswer | undefined;
  newer: OpenAnswer | undefined;
  isLinked = false;
  #isWaiting = false;
  #heartbeat: Heartbeat | undefined;
  #unfollow: () => void = () => undefined;

  /** @param offset at most the length of an answer that has ended. */
  constructor(
    private readonly stream: KeptStream,
    private offset: number,
    private readonly response: ServerResponse,
    private readonly open: OpenAnswers,
    private readonly reading: ServedReading,
  ) {}

  start(): void {
    const { stream, response } = this;
    const { heartbeatMs, onClose } = this.reading;
    if (response.destroyed) {
      onClose();
      return;
    }
    this.open.add(this);
    this.#unfollow = stream.follow(() => this.#send());
    response.once('close', () => {
      this.open.delete(this);
      this.#unfollow();
      onClose();
    });
    response.writeHead(200, this.#head());
    response.flushHeaders();
    if (heartbeatMs > 0 && isEventStream(stream.facts.contentType))
      this.#heartbeat = new Heartbeat(response, heartbeatMs, this.#before());
    this.#send();
  }

  /** The process is stopping. */
  interrupt(): void {
    cutAnswer(this.response);
  }

  /** The end of the client's bytes; text without a line end if it has not arrived. */
  #before(): string {
    const from = Math.max(0, this.offset - 4);
    if (this.offset === 0) return '';
    const bytes = this.stream.read(from)?.subarray(0, this.offset - from);
    return bytes?.length === this.offset - from ? bytes.toString('latin1') : UNKNOWN;
  }

  #head(): string[] {
    const { headers: further = [], select } = this.reading;
    const { state, length, facts } = this.stream;
    const headers = [...further, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff'];
    if (facts.contentType !== '') headers.push('content-type', facts.contentType);
    if (isEventStream(facts.contentType)) headers.push('x-accel-buffering', 'no');
    headers.push(STREAM_STATE_HEADER, state);
    if (select === undefined) headers.push(STREAM_OFFSET_HEADER, String(this.offset));
    if (select === undefined && state !== 'live') headers.push(STREAM_LENGTH_HEADER, String(length));
    completeRelayedHead(this.response, headers);
    return headers;
  }

  #send(): void {
    const { stream, response } = this;
    const { select } = this.reading;
    if (this.#isWaiting || response.destroyed || response.writableEnded) return;
    for (let piece = stream.read(this.offset); piece !== undefined; piece = stream.read(this.offset)) {
      this.offset += piece.length;
      const sent = select === undefined ? piece : select(piece);
      if (sent === undefined) continue;
      this.#heartbeat?.sent(sent);
      if (response.write(sent)) continue;
      this.#isWaiting = true;
      response.once('drain', () => {
        this.#isWaiting = false;
        this.#send();
      });
      return;
    }
    if (stream.state === 'live') return;
    this.#unfollow();
    if (stream.isWhole && this.offset >= stream.length) response.end();
    else this.#cutOnceSent();
  }

  /** The client first receives what was written. */
  #cutOnceSent(): void {
    const { response } = this;
    setImmediate(() => {
      if (response.socket === null) cutAnswer(response);
      else response.socket.write('', () => cutAnswer(response));
    });
  }
}
