import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { MergeMember, MergeMembers } from './json-merge-members.rules.js';
import { NOT_JSON, plainTextEnd, scalarEnd } from './json-syntax.rules.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const SEPARATOR = Buffer.from(',');

/** Bytes of a string to read individually before searching for its end; a search costs as much as these. */
const SHORT_TEXT_BYTES = 64;

/** State of the merge; in all states but the first it is inside an object with members to merge. */
const State = {
  root: 0,
  key: 1,
  keyText: 2,
  colon: 3,
  /** In a skipped value, or between it and the next comma. */
  value: 4,
  valueText: 5,
} as const;

type State = (typeof State)[keyof typeof State];

/** 1 for each byte that may affect where a value ends. */
const STRUCTURE = Uint8Array.from({ length: 256 }, (_, byte) => ('",[]{}'.includes(String.fromCharCode(byte)) ? 1 : 0));

/** An object of the body with members to merge. */
class OpenObject {
  isEmpty = true;
  readonly seen = new Set<MergeMember>();

  constructor(readonly members: MergeMembers) {}
}

/**
 * Merges members over a JSON object at every depth. Where both sides have an object, the objects are merged; elsewhere
 * the merged value replaces the value of the body, arrays and `null` included. Missing members are added at the end of
 * their object. All other bytes are unchanged. One pass without parsing; can run in steps.
 *
 * Requires a valid body; an invalid one ends in a refusal or in some text, never in an infinite loop.
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
export class JsonMerge {
  private at = 0;
  private state: State = State.root;
  private readonly objects: OpenObject[] = [];
  /** Open containers inside the skipped value. */
  private open = 0;
  private textStart = 0;
  private textEscaped = false;
  /** The member named by the key before the value. */
  private named: MergeMember | undefined;
  /** Set together with `named` while the skipped value is to be replaced. */
  private replacedFrom = -1;
  private readonly pieces: Buffer[] = [];
  private copied = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly members: MergeMembers,
  ) {}

  /**
   * Processes about `maxBytes` more bytes. Returns true once the merge is complete.
   *
   * @throws invalid_request a member to merge is duplicated in its object, in any spelling.
   */
  step(maxBytes: number): boolean {
    const limit = Math.min(this.bytes.length, this.at + maxBytes);
    while (this.at < limit) {
      if (this.state === State.value) this.passValue(limit);
      else if (this.state === State.valueText) this.passText();
      else if (this.state === State.keyText) this.readKeyText(limit);
      else this.readToken(this.bytes[this.at] as number);
      if (this.objects.length === 0 && this.state !== State.root) return true;
    }
    if (this.at >= this.bytes.length) throw this.refusal('ends too early,');
    return false;
  }

  /** The merged body; the same buffer when nothing changed. */
  merged(): Buffer {
    if (this.pieces.length === 0) return this.bytes;
    return Buffer.concat([...this.pieces, this.bytes.subarray(this.copied)]);
  }

  private readToken(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) this.at++;
    else if (this.state === State.key) this.readKey(byte);
    else if (this.state === State.colon) this.readColon(byte);
    else if (byte === OPEN_OBJECT) this.openObject(this.members);
    else throw this.refusal('must be a JSON object,');
  }

  private readKey(byte: number): void {
    if (byte === CLOSE_OBJECT) this.closeObject();
    else if (byte === QUOTE) {
      this.textStart = this.at;
      this.textEscaped = false;
      this.state = State.keyText;
      this.at++;
    } else throw this.refusal('not valid JSON: expected a member name');
  }

  private readKeyText(limit: number): void {
    const { bytes } = this;
    this.at = plainTextEnd(bytes, this.at, limit);
    if (this.at >= limit) return;
    if (bytes[this.at] === BACKSLASH) {
      this.textEscaped = true;
      this.at += 2;
      return;
    }
    const object = this.objects.at(-1);
    this.named = object?.members.find(bytes, this.textStart + 1, this.at, this.textEscaped);
    if (object !== undefined) this.recordKey(object);
    this.state = State.colon;
    this.at++;
  }

  private recordKey(object: OpenObject): void {
    object.isEmpty = false;
    if (this.named === undefined) return;
    if (object.seen.has(this.named)) {
      throw invalidRequest(this.named.path, `named twice, again at byte ${this.textStart}`);
    }
    object.seen.add(this.named);
  }

  private readColon(byte: number): void {
    if (byte === COLON) this.at++;
    else if (this.named === undefined) this.state = State.value;
    else this.readNamedValue(byte, this.named);
  }

  private readNamedValue(byte: number, { nested, value }: MergeMember): void {
    this.state = State.value;
    if (nested !== undefined && byte === OPEN_OBJECT) {
      this.named = undefined;
      if (nested.size > 0) this.openObject(nested);
      return;
    }
    this.replacedFrom = this.at;
    if (byte === QUOTE || byte === OPEN_ARRAY || byte === OPEN_OBJECT) return;
    const end = scalarEnd(this.bytes, this.at);
    if (end === NOT_JSON) throw this.refusal('not valid JSON: expected a value');
    this.at = end;
    this.replace(value);
  }

  /** Skips a value without parsing it, up to the byte after it or to a string inside it. */
  private passValue(limit: number): void {
    const { bytes } = this;
    let { at, open } = this;
    while (at < limit) {
      const byte = bytes[at] as number;
      if (STRUCTURE[byte] === 0 || (byte === COMMA && open > 0)) at++;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        open++;
        at++;
      } else if (open > 1 && byte !== QUOTE) {
        open--;
        at++;
      } else break;
    }
    this.at = at;
    this.open = open;
    if (at < limit) this.readEdge(bytes[at] as number);
  }

  /** Handles a byte that starts a string, or that may end the value or its object. */
  private readEdge(byte: number): void {
    if (byte === QUOTE) {
      this.state = State.valueText;
      this.at++;
    } else if (this.open > 0) {
      this.open--;
      this.at++;
      this.endValue();
    } else if (byte === COMMA) {
      this.state = State.key;
      this.at++;
    } else this.closeObject();
  }

  /** Skips part of a string: a few bytes individually, or all up to the next quote that may end it. */
  private passText(): void {
    const { bytes } = this;
    const rest = bytes.length - this.at;
    const near = this.at + (rest < SHORT_TEXT_BYTES ? rest : SHORT_TEXT_BYTES);
    const at = plainTextEnd(bytes, this.at, near);
    if (at === near) this.at = nextQuote(bytes, at);
    else if (bytes[at] === QUOTE) {
      this.at = at + 1;
      this.state = State.value;
      this.endValue();
    } else this.at = at + (bytes[at] === BACKSLASH ? 2 : 1);
  }

  private endValue(): void {
    if (this.open === 0 && this.replacedFrom !== -1 && this.named !== undefined) this.replace(this.named.value);
  }

  private replace(value: Buffer): void {
    const { bytes, replacedFrom: start, at: end } = this;
    if (bytes.compare(value, 0, value.length, start, end) !== 0) {
      this.pieces.push(bytes.subarray(this.copied, start), value);
      this.copied = end;
    }
    this.replacedFrom = -1;
    this.named = undefined;
  }

  private openObject(members: MergeMembers): void {
    this.objects.push(new OpenObject(members));
    this.state = State.key;
    this.at++;
  }

  private closeObject(): void {
    const object = this.objects.pop();
    if (object !== undefined && object.seen.size < object.members.size) this.addMissing(object);
    this.state = State.value;
    this.at++;
  }

  private addMissing({ members, seen, isEmpty }: OpenObject): void {
    this.pieces.push(this.bytes.subarray(this.copied, this.at));
    this.copied = this.at;
    let isFirst = isEmpty;
    for (const missing of members.all()) {
      if (seen.has(missing)) continue;
      if (!isFirst) this.pieces.push(SEPARATOR);
      this.pieces.push(missing.member);
      isFirst = false;
    }
  }

  private refusal(problem: string): GatewayError {
    return invalidRequest('body', `${problem} at byte ${this.at}`);
  }
}

/**
 * Searches from `start`, between two characters of a string. Returns the quote that ends the string, or the offset
 * after an escaped quote (one after an odd number of backslashes).
 */
function nextQuote(bytes: Buffer, start: number): number {
  const quote = bytes.indexOf(QUOTE, start);
  if (quote === -1) return bytes.length;
  let plain = quote;
  while (plain > start && bytes[plain - 1] === BACKSLASH) plain--;
  return (quote - plain) % 2 === 0 ? quote : quote + 1;
}

/**
 * Merges in one step; for bodies of at most `SCAN_STEP_BYTES`. Callers step longer ones with {@link JsonMerge}.
 *
 * @param bytes a JSON object that `JsonScan` has validated.
 * @param members from `compileMembers`.
 * @returns the same buffer when nothing changes.
 * @throws invalid_request a member to merge is duplicated in its object.
 */
export function mergeMembers(bytes: Buffer, members: MergeMembers): Buffer {
  if (members.size === 0) return bytes;
  const merge = new JsonMerge(bytes, members);
  merge.step(Math.max(1, bytes.length));
  return merge.merged();
}
