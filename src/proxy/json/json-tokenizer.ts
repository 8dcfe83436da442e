import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { escapeEnd, NOT_JSON, plainTextEnd, scalarEnd, snippet } from './json-syntax.rules.js';

/**
 * Bytes to read per event loop turn: a few milliseconds of work.
 * Source: docs/reference/security.md#bounded-work.
 */
const STEP_BYTES = 1024 * 1024;

export const QUOTE = 0x22;
export const OPEN_ARRAY = 0x5b;
export const OPEN_OBJECT = 0x7b;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** What the tokenizer expects next. */
const State = {
  root: 0,
  value: 1,
  firstElement: 2,
  firstKey: 3,
  key: 4,
  colon: 5,
  after: 6,
  trailing: 7,
  keyText: 8,
  valueText: 9,
} as const;

type State = (typeof State)[keyof typeof State];

/**
 * Reads a JSON object in raw bytes, strictly by RFC 8259, and reports its tokens to the subclass. One pass without a
 * copy; can run in steps. Only one subclass exists, so that the engine compiles its calls as direct ones.
 *
 * Refuses with `invalid_request` anything that is not a JSON object in UTF-8, and a byte order mark. Bounding the depth
 * is up to the subclass.
 */
export abstract class JsonTokenizer {
  /** Offset of the token being read. */
  protected at = 0;
  /** The first byte of each open container. */
  protected readonly containers: number[] = [];
  private state: State = State.root;
  private textStart = 0;
  private textEscaped = false;

  constructor(readonly bytes: Buffer) {}

  /** Reports a member name: `start` is the first byte of its text, `end` the closing quote. */
  protected abstract onName(start: number, end: number, escaped: boolean): void;
  /** Reports the first byte of a value. */
  protected abstract onValue(byte: number): void;
  /** Reports that a value of this kind opens a container, before it is in `containers`. */
  protected abstract onOpen(kind: number): void;
  /** Reports the end of the innermost container, while it is in `containers`. */
  protected abstract onClose(): void;
  /** Reports that a value ended before `at`; not for the root. */
  protected abstract onValueEnd(): void;
  protected abstract onComma(): void;

  /**
   * Reads to the end. A text longer than one step takes several event loop turns, so that no request blocks the event
   * loop.
   *
   * @throws invalid_request
   */
  run(): MaybePromise<this> {
    return this.step(STEP_BYTES) ? this : this.runSteps();
  }

  private async runSteps(): Promise<this> {
    do await nextTurn();
    while (!this.step(STEP_BYTES));
    return this;
  }

  /**
   * Reads about `maxBytes` more bytes, all of them by default. Returns true once the text is complete.
   *
   * @throws invalid_request
   */
  step(maxBytes: number = this.bytes.length): boolean {
    if (this.at === 0) this.checkEncoding();
    const limit = Math.min(this.bytes.length, this.at + maxBytes);
    while (this.at < limit) {
      if (this.state >= State.keyText) this.readText(limit);
      else this.readToken(this.bytes[this.at] as number);
    }
    if (this.at < this.bytes.length) return false;
    if (this.state !== State.trailing) throw invalidRequest('body', `ends too early, at byte ${this.at}`);
    return true;
  }

  protected refusal(problem: string): GatewayError {
    return invalidRequest(
      'body',
      `not valid JSON: ${problem} at byte ${this.at}, near ${snippet(this.bytes, this.at)}`,
    );
  }

  private checkEncoding(): void {
    const { bytes } = this;
    if (bytes.length === 0) throw invalidRequest('body', 'empty; send a JSON object');
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      throw invalidRequest('body', 'starts with a byte order mark at byte 0');
    }
    if (!isUtf8(bytes)) throw invalidRequest('body', 'not valid UTF-8');
  }

  private readToken(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) this.at++;
    else if (this.state === State.after) this.readAfterValue(byte);
    else if (this.state === State.colon) this.readColon(byte);
    else if (this.state === State.key) this.readKey(byte);
    else if (this.state === State.value) this.readValue(byte);
    else this.readAtEdge(byte);
  }

  /** Handles the first byte of a container's content, of the text, or after the text. */
  private readAtEdge(byte: number): void {
    switch (this.state) {
      case State.firstKey:
        if (byte === CLOSE_OBJECT) this.closeContainer();
        else this.readKey(byte);
        break;
      case State.firstElement:
        if (byte === CLOSE_ARRAY) this.closeContainer();
        else this.readValue(byte);
        break;
      case State.root:
        if (byte !== OPEN_OBJECT) throw invalidRequest('body', `must be a JSON object, at byte ${this.at}`);
        this.openContainer(byte);
        break;
      default:
        throw this.refusal('expected nothing after the object');
    }
  }

  private readColon(byte: number): void {
    if (byte !== COLON) throw this.refusal('expected a colon');
    this.at++;
    this.state = State.value;
  }

  private readKey(byte: number): void {
    if (byte !== QUOTE) throw this.refusal('expected a member name');
    this.beginText(State.keyText);
  }

  private readValue(byte: number): void {
    this.onValue(byte);
    if (byte === QUOTE) this.beginText(State.valueText);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.openContainer(byte);
    else {
      const end = scalarEnd(this.bytes, this.at);
      if (end === NOT_JSON) throw this.refusal('expected a value');
      this.at = end;
      this.endValue();
    }
  }

  private readAfterValue(byte: number): void {
    const isObject = this.containers[this.containers.length - 1] === OPEN_OBJECT;
    if (byte === COMMA) {
      this.onComma();
      this.at++;
      this.state = isObject ? State.key : State.value;
    } else if (byte === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.closeContainer();
    else throw this.refusal(isObject ? 'expected a comma or }' : 'expected a comma or ]');
  }

  private beginText(state: State): void {
    this.at++;
    this.textStart = this.at;
    this.textEscaped = false;
    this.state = state;
  }

  private readText(limit: number): void {
    const { bytes } = this;
    let at = plainTextEnd(bytes, this.at, limit);
    while (at < limit && bytes[at] === BACKSLASH) {
      this.at = at;
      this.textEscaped = true;
      at = escapeEnd(bytes, at);
      if (at === NOT_JSON) throw this.refusal('a broken escape');
      at = plainTextEnd(bytes, at, limit);
    }
    this.at = at;
    if (at >= limit) return;
    if (bytes[at] !== QUOTE) throw this.refusal('a control character inside a string');
    this.at++;
    if (this.state === State.keyText) {
      this.state = State.colon;
      this.onName(this.textStart, at, this.textEscaped);
    } else this.endValue();
  }

  private endValue(): void {
    this.state = State.after;
    this.onValueEnd();
  }

  private openContainer(kind: number): void {
    this.onOpen(kind);
    this.containers.push(kind);
    this.at++;
    this.state = kind === OPEN_OBJECT ? State.firstKey : State.firstElement;
  }

  private closeContainer(): void {
    this.onClose();
    this.containers.pop();
    this.at++;
    if (this.containers.length === 0) this.state = State.trailing;
    else this.endValue();
  }
}
