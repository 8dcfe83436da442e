import type { ConnectionEvents, ProviderConnection } from '../connections/provider-connection.js';
import { type ResponseHead, singleHeader } from '../connections/response-head.rules.js';
import { DECODERS, type Decoder, type DecoderFor } from '../content-codings.js';
import type { Stage, TurnBatch } from '../turn-batch.js';
import type { ProviderCall } from './provider-call.js';
import { connectionFailure, GivenUp } from './provider-failure.rules.js';

/**
 * A larger part of a body does not wait for stages, so that a slow client pauses the provider before it sends much
 * more.
 */
const MAX_STAGED_BYTES = 16 * 1024;

/** A provider's head as received. */
export interface ReceivedHead {
  readonly head: ResponseHead;
  /** Whether the gateway decodes the body, so that its bytes differ from those the provider sent. */
  readonly isDecoded: boolean;
}

/** Events of an answer body. `onEnd` or `onFailure` is the last event. */
export interface BodyEvents {
  /** The next bytes of the body, decoded. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

/** Events of one call. */
export interface RoundTripEvents extends BodyEvents {
  /**
   * Called immediately before the request is written to the socket. A thrown error prevents that and is reported as the
   * failure.
   */
  onSend(): void;
  onHead(head: ReceivedHead): void;
}

/**
 * The upstream side of one call: sends it, waits for its head within limits, decodes its body, and releases the
 * connection. Its public methods are the connection's callbacks in their order, and the operations for the relay. What
 * arrives is delivered in the stages of its event loop turn, in the order of its arrival.
 */
export class ProviderRoundTrip implements ConnectionEvents {
  #connection: ProviderConnection | undefined;
  /** Of an encoded answer. */
  #decoderFor: DecoderFor | undefined;
  /** Absent before the first byte of the body. */
  #decoder: Decoder | undefined;
  /** Bytes of the encoded body. */
  #codedBytes = 0;
  #receiver: BodyEvents;
  #status = 0;
  /** Received and not yet delivered. */
  #head: ReceivedHead | undefined;
  #chunks: Buffer[] | undefined;
  #chunkBytes = 0;
  /** The whole message has arrived and its connection is back in its pool, even while decoding continues. */
  #arrived = false;
  /** The call has ended; further events are ignored. */
  #over = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly events: RoundTripEvents,
    private readonly turn: TurnBatch,
  ) {
    this.#receiver = events;
  }

  /** Status of the provider's answer, undecodable answers included; 0 before the head. */
  get status(): number {
    return this.#status;
  }

  /** Sets the connection for the request. */
  take(connection: ProviderConnection): void {
    this.#connection = connection;
  }

  /** Sends the request on the given connection, unless it has ended already. */
  start(): void {
    const connection = this.#connection;
    if (this.#over || connection === undefined) return;
    this.#connection = connection.isClosed ? this.call.pool.renew(connection) : connection;
    this.#connection.send(this.call, this);
  }

  onSend(): void {
    try {
      this.events.onSend();
    } catch (error) {
      this.#connection?.abort(new GivenUp('not_recordable', { cause: error }));
    }
  }

  onHead(head: ResponseHead): void {
    if (head.status < 200) return;
    this.#status = head.status;
    const decoding = decodingOf(singleHeader(head.headers, 'content-encoding'));
    if (decoding === 'unknown') {
      this.giveUp('undecodable');
      return;
    }
    this.#decoderFor = decoding === 'identity' ? undefined : decoding;
    this.#head = { head, isDecoded: this.#decoderFor !== undefined };
    this.#add('heads', () => this.#deliverHead());
  }

  onBytes(bytes: Buffer): void {
    if (this.#over) return;
    if (this.#decoderFor !== undefined) {
      this.#decoder ??= this.#decodingWith(this.#decoderFor(bytes[0] ?? 0));
      this.#codedBytes += bytes.length;
      if (!this.#decoder.write(bytes)) this.#connection?.pause();
      return;
    }
    if (this.#chunks === undefined) {
      this.#chunks = [];
      this.#add('bodies', () => this.#deliverChunks());
    }
    this.#chunks.push(bytes);
    this.#chunkBytes += bytes.length;
    if (this.#chunkBytes > MAX_STAGED_BYTES) this.#deliverChunks();
  }

  onEnd(): void {
    this.#arrived = true;
    this.#connection = undefined;
    if (this.#over) this.finish();
    else if (this.#decoder) this.#decoder.end();
    else this.#add('ends', () => this.#complete());
  }

  onFailure(error: Error): void {
    this.#connection = undefined;
    this.#deliverChunks();
    if (this.#over) this.finish();
    else this.#receiver.onFailure(connectionFailure(error));
  }

  /** Applies backpressure when the receiver cannot keep up. */
  pause(): void {
    const source = this.#decoder ?? this.#connection;
    source?.pause();
  }

  /** Resumes delivery after `pause`. */
  resume(): void {
    this.#decoder?.resume();
    this.#connection?.resume();
  }

  /** Aborts the call, if its connection has it. */
  giveUp(why: GivenUp['why']): void {
    if (this.#connection?.isBusy) this.#connection.abort(new GivenUp(why));
  }

  /**
   * Aborts the call immediately, unless its whole answer is here. A request that is not sent yet has no call on its
   * connection, and a decoder may go on after its connection has ended; both cases are reported directly.
   */
  stop(why: GivenUp['why']): void {
    if (this.#arrived && this.#decoder === undefined) this.#complete();
    else this.#fail(new GivenUp(why));
  }

  /** Redirects the remaining body events to another receiver. */
  passTo(receiver: BodyEvents): void {
    this.#receiver = receiver;
  }

  /**
   * Discards the rest of the answer: what follows is dropped, and the connection of an answer that has not arrived
   * completely is closed.
   */
  finish(): void {
    this.#over = true;
    this.#decoder?.destroy();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.release();
  }

  /** What the receiver throws ends the call. */
  #add(stage: Stage, deliver: () => void): void {
    this.turn.add(stage, () => {
      try {
        deliver();
      } catch (error) {
        this.#head = undefined;
        this.#chunks = undefined;
        this.#fail(error instanceof Error ? error : new Error('the answer was not relayed'));
      }
    });
  }

  #fail(error: Error): void {
    const connection = this.#connection;
    if (connection?.isBusy) connection.abort(error);
    else {
      // Its request was not sent: no end of a call returns it.
      connection?.release();
      this.onFailure(error);
    }
  }

  #deliverHead(): void {
    const head = this.#head;
    this.#head = undefined;
    if (head !== undefined && !this.#over) this.events.onHead(head);
  }

  #deliverChunks(): void {
    this.#deliverHead();
    const chunks = this.#chunks ?? [];
    this.#chunks = undefined;
    this.#chunkBytes = 0;
    for (const chunk of chunks) if (!this.#over) this.#receiver.onBytes(chunk);
  }

  #complete(): void {
    this.#deliverChunks();
    if (this.#over) return;
    if (this.#status !== 0) this.#receiver.onEnd();
    else this.#receiver.onFailure(new Error('the provider ended its answer without a status'));
  }

  /** The end of the coding is the end of the answer only if it is the end of its message too. */
  #decodingWith(decoder: Decoder): Decoder {
    decoder.on('data', (bytes: Buffer) => {
      this.#deliverHead();
      if (!this.#over) this.#receiver.onBytes(bytes);
    });
    decoder.on('drain', () => this.#connection?.resume());
    decoder.on('end', () => {
      if (this.#arrived && decoder.bytesWritten === this.#codedBytes) this.#complete();
      else this.#fail(new GivenUp('undecodable'));
    });
    decoder.on('error', () => this.#fail(new GivenUp('undecodable')));
    return decoder;
  }
}

/**
 * Returns the decoding of an answer. Requests ask for `identity`, but a provider may still encode the answer. It must
 * be decoded because `content-encoding` is not relayed.
 *
 * @param contentEncoding the answer's header, `undefined` when absent.
 */
export function decodingOf(contentEncoding: string | undefined): DecoderFor | 'identity' | 'unknown' {
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return 'identity';
  return DECODERS.get(coding) ?? 'unknown';
}
