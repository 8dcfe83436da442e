import type { KeptStream } from '../streams/kept-stream.js';
import type { ClientAnswer } from './client-answer.js';

/**
 * The client of an answer that is kept. While bytes are kept, the provider is read at its own speed: a client that is
 * slower gets the rest from what is kept. Beyond that, it slows its provider like any other.
 */
export class KeptAnswer {
  /** Bytes that were handed to the client. */
  #position = 0;
  /** What is not kept, and follows what is. */
  #rest: Buffer[] = [];
  #unfollow: (() => void) | undefined;
  #isBehind = false;
  #hasLeft = false;
  #hasEnded = false;

  /** @param resume reads the provider again after `push` has returned false. */
  constructor(
    readonly stream: KeptStream,
    private readonly answer: ClientAnswer,
    private readonly resume: () => void,
  ) {}

  /** The client is gone; what arrives is only kept. */
  leave(): void {
    this.#hasLeft = true;
    this.#rest = [];
    this.#unfollow?.();
  }

  /** @returns false when the provider must wait for the client. */
  push(bytes: Buffer): boolean {
    const before = this.stream.length;
    const isKept = this.stream.append(bytes);
    if (this.#hasLeft) return true;
    if (this.#isBehind) {
      if (!isKept) this.#rest.push(bytes.subarray(this.stream.length - before));
      return isKept;
    }
    this.#position += bytes.length;
    if (this.answer.write(bytes)) return true;
    this.#isBehind = true;
    if (isKept) this.#unfollow = this.stream.follow(() => this.#takeOver());
    this.answer.whenDrained(() => this.#catchUp());
    return isKept;
  }

  /** Completes the answer, once the client has all of it. */
  end(): void {
    this.#hasEnded = true;
    if (!this.#isBehind && !this.#hasLeft) this.answer.end();
  }

  #catchUp(): void {
    for (let piece = this.#next(); piece !== undefined; piece = this.#next()) {
      if (this.#hasLeft) return;
      if (this.answer.write(piece)) continue;
      this.answer.whenDrained(() => this.#catchUp());
      return;
    }
    this.#isBehind = false;
    this.#unfollow?.();
    if (this.#hasEnded) this.answer.end();
    else this.resume();
  }

  #next(): Buffer | undefined {
    const piece = this.#unfollow === undefined ? undefined : this.stream.read(this.#position);
    if (piece === undefined) return this.#rest.shift();
    this.#position += piece.length;
    return piece;
  }

  /** What has ended may be forgotten before the client has it. */
  #takeOver(): void {
    if (this.stream.state === 'live') return;
    this.#rest.push(...this.stream.piecesFrom(this.#position));
    this.#unfollow?.();
    this.#unfollow = undefined;
  }
}
