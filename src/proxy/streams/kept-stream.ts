/**
 * State of a kept answer: being read; completed by the provider; broken off or with an error; stopped by its caller;
 * not kept completely.
 */
export type StreamState = 'live' | 'complete' | 'failed' | 'stopped' | 'lost';

/** The fixed properties of a kept answer. */
export interface StreamFacts {
  readonly id: string;
  /** Identifies it without revealing the id. */
  readonly mark: string;
  readonly appId: string;
  /** Null on the proxy. */
  readonly endpointSlug: string | null;
  readonly status: number;
  /** Empty if the answer has none. */
  readonly contentType: string;
  /** Longer answers are kept up to this length. */
  readonly maxBytes: number;
  /** Seconds after its end. */
  readonly resumeSeconds: number;
}

/** Is notified of a stream's memory and of its end. */
export interface StreamKeeper {
  /** @returns whether there is room for that many more bytes. */
  reserve(stream: KeptStream, bytes: number): boolean;
  /** @param bytes reserved with {@link reserve} but not used. */
  release(stream: KeptStream, bytes: number): void;
  ended(stream: KeptStream): void;
}

const FIRST_BLOCK_BYTES = 2 * 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;

/** Bytes from `start` on; the first `used` are filled. */
interface Block {
  readonly start: number;
  bytes: Buffer;
  used: number;
}

/**
 * The bytes of one answer as sent to its client, in separate memory, and its followers. Bytes are only ever added, so a
 * reader needs no copy.
 */
export class KeptStream {
  /** Cancels the call; set by the relay of the call, absent if another instance reads the answer. */
  onStop: (() => void) | undefined;
  /** Notified of the end; set by the claim of its call. */
  onEnd: (() => void) | undefined;
  /** Clients that read it, besides the client of the call. */
  readers = 0;
  /** When it expires; known once it has ended. Milliseconds since the Unix epoch. */
  expiresAtMs = Number.POSITIVE_INFINITY;
  readonly #followers = new Set<() => void>();
  #blocks: Block[] = [];
  #length = 0;
  #state: StreamState = 'live';
  #isWhole = false;

  constructor(
    readonly facts: StreamFacts,
    private readonly keeper: StreamKeeper,
  ) {}

  get state(): StreamState {
    return this.#state;
  }

  /** Number of bytes kept. */
  get length(): number {
    return this.#length;
  }

  /** Whether the bytes are all that the provider sent; an answer that reports an error may be. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Memory of the blocks. */
  get heldBytes(): number {
    return this.#blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Adds a copy of the next bytes. @returns whether all of them are kept; once false, it stays false. */
  append(bytes: Buffer): boolean {
    if (this.#state !== 'live') return false;
    let rest = bytes.subarray(0, this.facts.maxBytes - this.#length);
    const isAll = rest.length === bytes.length;
    while (rest.length > 0) {
      const block = this.#room(rest.length);
      if (block === undefined) break;
      const copied = rest.copy(block.bytes, block.used);
      block.used += copied;
      this.#length += copied;
      rest = rest.subarray(copied);
    }
    const isKept = isAll && rest.length === 0;
    if (isKept) this.#tell();
    else this.end('lost');
    return isKept;
  }

  /** Ends it, once. @param isWhole whether the provider sent nothing more. */
  end(state: Exclude<StreamState, 'live'>, isWhole = false): void {
    if (this.#state !== 'live') return;
    this.#state = state;
    this.#isWhole = isWhole;
    this.#trim();
    this.keeper.ended(this);
    this.onEnd?.();
    this.#tell();
  }

  /** Stops it for its caller, and cancels the call. */
  stop(): void {
    const { onStop } = this;
    this.end('stopped');
    this.onStop = undefined;
    onStop?.();
  }

  /** Forgets the bytes. Followers are notified first. */
  drop(): void {
    this.end('lost');
    this.#isWhole = false;
    this.#state = this.#state === 'stopped' ? 'stopped' : 'lost';
    this.#tell();
    this.keeper.release(this, this.heldBytes);
    this.#blocks = [];
    this.#followers.clear();
  }

  /** The contiguous bytes from `offset` on; undefined if no bytes follow it or they were dropped. */
  read(offset: number): Buffer | undefined {
    const block = this.#blocks.findLast(({ start }) => start <= offset);
    if (block === undefined || offset >= block.start + block.used) return undefined;
    return block.bytes.subarray(offset - block.start, block.used);
  }

  /** All bytes from `offset` on, by block. */
  piecesFrom(offset: number): Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = offset, piece = this.read(at); piece !== undefined; piece = this.read(at)) {
      pieces.push(piece);
      at += piece.length;
    }
    return pieces;
  }

  /** Calls back after each addition and at the end. @returns a function that stops the calls. */
  follow(onChange: () => void): () => void {
    this.#followers.add(onChange);
    return () => this.#followers.delete(onChange);
  }

  #room(wanted: number): Block | undefined {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.used < last.bytes.length) return last;
    const twice = last === undefined ? FIRST_BLOCK_BYTES : 2 * last.bytes.length;
    const size = Math.min(Math.max(twice, wanted), LARGEST_BLOCK_BYTES, this.facts.maxBytes - this.#length);
    if (!this.keeper.reserve(this, size)) return undefined;
    const block = { start: this.#length, bytes: Buffer.allocUnsafeSlow(size), used: 0 };
    this.#blocks.push(block);
    return block;
  }

  /** Releases the unused part of the last block. */
  #trim(): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.used === last.bytes.length) return;
    this.keeper.release(this, last.bytes.length - last.used);
    const used = Buffer.allocUnsafeSlow(last.used);
    last.bytes.copy(used, 0, 0, last.used);
    last.bytes = used;
  }

  #tell(): void {
    for (const onChange of [...this.#followers]) onChange();
  }
}
