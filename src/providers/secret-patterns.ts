/** A shorter secret could match unrelated text; new secrets have at least this length. */
const MIN_BYTES = 8;
/** Maximum length of the suffix window in the search. */
const MAX_WINDOW_BYTES = 32;
const BLOCK_BYTES = 4;
/** Hash multiplier for the jump table (Knuth, "The Art of Computer Programming" 6.4). */
const MULTIPLIER = 0x9e3779b1;
const MIN_TABLE_BITS = 8;
const MAX_TABLE_BITS = 16;

/**
 * Finds any of many secrets in a byte stream. Bytes without a match are skipped by jumps (Wu and Manber, "A fast
 * algorithm for multi-pattern searching"), whose number hardly depends on the number of secrets. Possible matches are
 * read by an automaton in bounded time per byte (Aho and Corasick, "Efficient string matching").
 */
export class SecretPatterns {
  readonly #spellings: readonly Buffer[];
  readonly #window: number;
  readonly #tableShift: number;
  readonly #jumps: Uint8Array;
  /** Bytes that occur in a secret. */
  readonly #alphabet = new Uint8Array(256);
  readonly #longest: number;
  /** Keyed by `state * 256 + byte`. State 0 is the empty prefix. */
  readonly #edges = new Map<number, number>();
  readonly #fallbacks: number[] = [0];
  readonly #depths: number[] = [0];
  /** Length of the longest secret that ends in a state; 0: none. */
  readonly #matches: number[] = [0];

  constructor(secrets: Iterable<string>) {
    const texts = new Set([...secrets].flatMap(spellingsOf));
    this.#spellings = [...texts].map((text) => Buffer.from(text)).filter(({ length }) => length >= MIN_BYTES);
    const lengths = this.#spellings.map(({ length }) => length);
    this.#longest = Math.max(0, ...lengths);
    this.#window = Math.min(MAX_WINDOW_BYTES, ...lengths);
    const blocks = this.#spellings.length * this.#window * 4;
    const bits = Math.min(MAX_TABLE_BITS, Math.max(MIN_TABLE_BITS, Math.ceil(Math.log2(blocks + 1))));
    this.#tableShift = 32 - bits;
    this.#jumps = new Uint8Array(2 ** bits).fill(this.#window - BLOCK_BYTES + 1);
    for (const spelling of this.#spellings) this.#add(spelling);
    this.#link();
  }

  get isEmpty(): boolean {
    return this.#spellings.length === 0;
  }

  /** False: none of the secrets occurs in these bytes. */
  mayHold(bytes: Buffer): boolean {
    const jumps = this.#jumps;
    const shift = this.#tableShift;
    for (let at = this.#window - 1; at < bytes.length; ) {
      const jump = jumps[blockAt(bytes, at, shift)] ?? 0;
      if (jump === 0) return true;
      at += jump;
    }
    return false;
  }

  /** The same for single-byte text, such as a header value. */
  mayHoldText(text: string): boolean {
    const jumps = this.#jumps;
    const shift = this.#tableShift;
    for (let at = this.#window - 1; at < text.length; ) {
      const first = text.charCodeAt(at - 3);
      const second = text.charCodeAt(at - 2);
      const third = text.charCodeAt(at - 1);
      const fourth = text.charCodeAt(at);
      const jump = jumps[slot(first, second, third, fourth, shift)] ?? 0;
      if (jump === 0) return true;
      at += jump;
    }
    return false;
  }

  /** The state after bytes without a match; a suffix of them may be the prefix of a secret. */
  stateAtEnd(bytes: Buffer): number {
    const earliest = Math.max(0, bytes.length - this.#longest + 1);
    let at = bytes.length;
    while (at > earliest && this.#alphabet[bytes[at - 1] ?? 0] === 1) at--;
    let state = 0;
    for (; at < bytes.length; at++) state = this.step(state, bytes[at] ?? 0);
    return state;
  }

  step(state: number, byte: number): number {
    for (let from = state; ; from = this.#fallbacks[from] ?? 0) {
      const next = this.#edges.get(from * 256 + byte);
      if (next !== undefined) return next;
      if (from === 0) return 0;
    }
  }

  /** The number of last bytes that may be the prefix of a secret. */
  depthOf(state: number): number {
    return this.#depths[state] ?? 0;
  }

  /** The number of last bytes that are a secret; 0: none. */
  matchOf(state: number): number {
    return this.#matches[state] ?? 0;
  }

  #add(spelling: Buffer): void {
    const end = spelling.length - 1;
    for (let at = end; at - BLOCK_BYTES >= end - this.#window; at--) {
      const block = blockAt(spelling, at, this.#tableShift);
      this.#jumps[block] = Math.min(this.#jumps[block] ?? 0, end - at);
    }
    let state = 0;
    for (const byte of spelling) {
      this.#alphabet[byte] = 1;
      const edge = state * 256 + byte;
      let next = this.#edges.get(edge);
      if (next === undefined) {
        next = this.#depths.length;
        this.#edges.set(edge, next);
        this.#depths.push((this.#depths[state] ?? 0) + 1);
        this.#matches.push(0);
        this.#fallbacks.push(0);
      }
      state = next;
    }
    this.#matches[state] = spelling.length;
  }

  /** Links each state with its longest proper suffix that is a prefix of a secret, in order of depth. */
  #link(): void {
    const edges = [...this.#edges].toSorted(([, one], [, other]) => this.depthOf(one) - this.depthOf(other));
    for (const [edge, state] of edges) {
      const from = Math.floor(edge / 256);
      const fallback = from === 0 ? 0 : this.step(this.#fallbacks[from] ?? 0, edge % 256);
      this.#fallbacks[state] = fallback;
      this.#matches[state] ||= this.matchOf(fallback);
    }
  }
}

/** The secret as is, and its JSON and URL encodings. */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

function blockAt(bytes: Buffer, at: number, shift: number): number {
  return slot(bytes[at - 3] ?? 0, bytes[at - 2] ?? 0, bytes[at - 1] ?? 0, bytes[at] ?? 0, shift);
}

function slot(first: number, second: number, third: number, fourth: number, shift: number): number {
  return Math.imul(first | (second << 8) | (third << 16) | (fourth << 24), MULTIPLIER) >>> shift;
}

/** Longer than an opened key is used, including while the vault is unavailable. */
const KEPT_MS = 2 * 60 * 60 * 1_000;

/**
 * The opened keys and tokens of one account in this process, including those from before a rotation. The plaintext is
 * in private fields only, so that printing or serialising this object does not reveal it.
 */
export class OpenSecrets {
  /** Time of the last opening by secret, on the monotonic clock. */
  readonly #openedMs = new Map<string, number>();
  #patterns = new SecretPatterns([]);

  /** Matches all opened secrets; a new object whenever the set changes. */
  get patterns(): SecretPatterns {
    return this.#patterns;
  }

  opened(secret: string, nowMs: number): void {
    const isNew = !this.#openedMs.has(secret);
    this.#openedMs.set(secret, nowMs);
    const isOver = this.#evict(nowMs);
    if (isNew || isOver) this.#patterns = new SecretPatterns(this.#openedMs.keys());
  }

  /** The same with one secret that is in use, whether or not it is in the set. */
  patternsWith(secret: string): SecretPatterns {
    return this.#openedMs.has(secret) ? this.#patterns : new SecretPatterns([...this.#openedMs.keys(), secret]);
  }

  #evict(nowMs: number): boolean {
    const before = this.#openedMs.size;
    for (const [secret, openedMs] of this.#openedMs) if (openedMs < nowMs - KEPT_MS) this.#openedMs.delete(secret);
    return this.#openedMs.size < before;
  }
}
