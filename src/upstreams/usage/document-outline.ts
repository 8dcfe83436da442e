import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { parseJson } from './json-fields.rules.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Longest string kept, in bytes as written: each character of an id may be an escape of six. */
const MAX_TEXT_BYTES = 256 * 6;
/** Bound on what is kept of one document. */
const MAX_KEPT_BYTES = 256 * 1024;
/** What an object or list counts against it. */
const NODE_BYTES = 64;
/** From this length on, the end of a string without an escaped quote is searched natively. */
const SHORT_TEXT_BYTES = 32;
/** Bytes outside of strings with a meaning: all of them, and those in a container that is not kept. */
const BOUNDS = tableOf([QUOTE, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY]);
const SIGNS = tableOf([QUOTE, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY, COMMA, COLON]);

type OpenObject = Record<string, unknown>;
type Node = OpenObject | unknown[];

/**
 * Reads a JSON document in pieces and keeps its outline: the strings, objects and lists of objects under the given
 * member names, each of which is held by one of them. Everything else passes, so that a document of any size takes
 * little memory. It does not validate: its result for text that is not JSON is meaningless.
 */
export class DocumentOutline {
  readonly #names: ReadonlySet<string>;
  readonly #open: Node[] = [];
  #root: Node | undefined;
  #room = MAX_KEPT_BYTES;
  /** Open containers below the innermost one that is kept. */
  #skipped = 0;
  #isOver = false;
  #key: string | undefined;
  #expectsKey = false;
  #inText = false;
  #escaped = false;
  /** The bytes of the string being read, where they matter. */
  #text: Buffer | undefined;
  #textBytes = 0;
  readonly #textMemory = Buffer.allocUnsafeSlow(MAX_TEXT_BYTES);

  /** @param names of members, plain ASCII. */
  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** The outline of the document, or of the objects in its list. */
  get documents(): readonly JsonObject[] {
    return (Array.isArray(this.#root) ? this.#root : [this.#root]).filter(isJsonObject);
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#isOver) {
      if (this.#inText) at = this.#readText(chunk, at);
      else {
        at = nextOf(this.#skipped > 0 ? BOUNDS : SIGNS, chunk, at);
        if (at < chunk.length) this.#readSign(chunk[at++] as number);
      }
    }
  }

  #readSign(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#beginText();
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#openContainer(byte);
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#closeContainer();
        break;
      case COMMA:
        this.#expectsKey = this.#skipped === 0 && !Array.isArray(this.#open.at(-1));
        break;
      case COLON:
        this.#expectsKey = false;
        break;
    }
  }

  #beginText(): void {
    this.#inText = true;
    this.#textBytes = 0;
    this.#text = this.#isKept() ? this.#textMemory : undefined;
  }

  /** Whether the string or container that begins here belongs to the outline. */
  #isKept(): boolean {
    if (this.#skipped > 0) return false;
    return this.#expectsKey || (this.#key !== undefined && !Array.isArray(this.#open.at(-1)));
  }

  /** @returns the offset after what was read: the end of the string or of the chunk. */
  #readText(chunk: Buffer, start: number): number {
    const end = this.#endOfText(chunk, start);
    const piece = end === -1 ? chunk.length : end;
    if (this.#text !== undefined) this.#keepText(chunk, start, piece);
    if (end === -1) return chunk.length;
    this.#inText = false;
    this.#endText();
    return end + 1;
  }

  /** The offset of the closing quote; -1 where the string goes on after the chunk. */
  #endOfText(chunk: Buffer, start: number): number {
    let escaped = this.#escaped;
    this.#escaped = false;
    for (let at = start; at < chunk.length; ) {
      for (
        const near = Math.min(chunk.length, at + SHORT_TEXT_BYTES);
        at < near || (escaped && at < chunk.length);
        at++
      ) {
        if (escaped) escaped = false;
        else if (chunk[at] === QUOTE) return at;
        else escaped = chunk[at] === BACKSLASH;
      }
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.length : quote;
      escaped ||= backslashesBefore(chunk, end, at) % 2 === 1;
      if (quote !== -1 && !escaped) return quote;
      at = end;
    }
    this.#escaped = escaped;
    return -1;
  }

  #keepText(chunk: Buffer, start: number, end: number): void {
    const bytes = end - start;
    if (this.#textBytes + bytes > MAX_TEXT_BYTES) this.#text = undefined;
    else {
      chunk.copy(this.#textMemory, this.#textBytes, start, end);
      this.#textBytes += bytes;
    }
  }

  #endText(): void {
    const text = this.#text && unescaped(this.#text.toString('utf8', 0, this.#textBytes));
    if (this.#expectsKey) {
      this.#key = typeof text === 'string' && this.#names.has(text) ? text : undefined;
      return;
    }
    if (typeof text === 'string') this.#attach(text, this.#textBytes);
  }

  #openContainer(kind: number): void {
    const parent = this.#open.at(-1);
    const isEntry = Array.isArray(parent) && kind === OPEN_OBJECT;
    if (this.#skipped > 0 || (parent !== undefined && !isEntry && !this.#isKept())) {
      this.#skipped++;
      this.#expectsKey = false;
      return;
    }
    const node: Node = kind === OPEN_OBJECT ? {} : [];
    this.#attach(node, NODE_BYTES);
    this.#open.push(node);
    this.#key = undefined;
    this.#expectsKey = kind === OPEN_OBJECT;
  }

  #closeContainer(): void {
    this.#expectsKey = false;
    this.#key = undefined;
    if (this.#skipped > 0) this.#skipped--;
    else this.#open.pop();
    this.#isOver ||= this.#open.length === 0;
  }

  /** Adds a value to the innermost container. */
  #attach(value: Node | string, bytes: number): void {
    const parent = this.#open.at(-1);
    this.#room -= bytes;
    if (this.#room < 0) this.#isOver = true;
    else if (parent === undefined) this.#root = typeof value === 'string' ? undefined : value;
    else if (Array.isArray(parent)) parent.push(value);
    else if (this.#key !== undefined) parent[this.#key] = value;
  }
}

/** The value of a string; undefined when an escape is broken. */
function unescaped(text: string): unknown {
  return text.includes('\\') ? parseJson(`"${text}"`) : text;
}

function tableOf(signs: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_value, byte) => (signs.includes(byte) ? 1 : 0));
}

/** The offset of the next byte that the table names; the length of the chunk without one. */
function nextOf(table: Uint8Array, chunk: Buffer, start: number): number {
  let at = start;
  while (at < chunk.length && table[chunk[at] as number] === 0) at++;
  return at;
}

function backslashesBefore(chunk: Buffer, end: number, start: number): number {
  let at = end;
  while (at > start && chunk[at - 1] === BACKSLASH) at--;
  return end - at;
}
