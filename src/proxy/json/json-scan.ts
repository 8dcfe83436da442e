import { isUtf8 } from 'node:buffer';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { shownText } from '../../common/errors/shown-text.rules.js';
import { type DeepMember, MemberSpan, ObjectSpan, type ScannedBody } from './json-members.js';
import { escapeEnd, NOT_JSON, plainTextEnd, scalarEnd, snippet } from './json-syntax.rules.js';
import type { FoundName, JudgedName, JudgedNames } from './judged-names.js';

/** Maximum nesting of objects and arrays, the root included. Source: docs/reference/security.md#bounded-work. */
export const MAX_DEPTH = 128;

/**
 * Bytes to scan per event loop turn: a few milliseconds of work.
 * Source: docs/reference/security.md#bounded-work.
 */
export const SCAN_STEP_BYTES = 1024 * 1024;

/** Maximum number of deep names in one body; far above any real request. */
const MAX_DEEP_MEMBERS = 4096;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What the scan expects next. */
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
 * Scans a JSON object in raw bytes, strictly by RFC 8259, and records the offsets of the listed members, so that every
 * other byte can be forwarded unchanged. One pass without a copy; can run in steps.
 *
 * Refuses with `invalid_request`: anything that is not a JSON object in UTF-8, a byte order mark, more than `MAX_DEPTH`
 * levels, a listed member duplicated in one object (in any spelling), and a member that differs from a listed one by
 * letter case only, because some decoders treat both as equal.
 * Source: docs/reference/application-api.md#bodies, docs/reference/security.md#bounded-work,
 * docs/reference/security.md#judged-and-sent-bytes.
 */
export class JsonScan implements ScannedBody {
  readonly root = new ObjectSpan(-1);
  readonly deep: DeepMember[] = [];
  mediaParts = 0;
  mediaBytes = 0;
  readonly named: ObjectSpan[] = [];

  private at = 0;
  private state: State = State.root;
  private readonly containers: number[] = [];
  /** Per container: the listed name that holds it, directly or as an entry of that name's list. */
  private readonly holders: (JudgedName | undefined)[] = [];
  /** Per container: its record, if it is an object with recorded members. */
  private readonly spans: (ObjectSpan | undefined)[] = [];
  /** The innermost container, if it is an object with recorded members. */
  private current: ObjectSpan | undefined;
  /** Number of open objects. */
  private objects = 0;
  /** Depth of the container in which deep names are ignored; 0 outside of one. */
  private freeDepth = 0;
  /** Preceding entries of the current list at the second level. */
  private entries = 0;
  private textStart = 0;
  private textEscaped = false;
  /** The listed name whose value is next. */
  private key: JudgedName | undefined;
  private openDeep: DeepMember | undefined;
  private inMedia = false;

  constructor(
    readonly bytes: Buffer,
    private readonly names: JudgedNames,
  ) {}

  get hasMedia(): boolean {
    return this.mediaParts > 0;
  }

  /**
   * Scans about `maxBytes` more bytes. The record is complete once this has returned true.
   *
   * @throws invalid_request
   */
  step(maxBytes: number): boolean {
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

  /** Handles the first byte of a container's content, of the body, or after the body. */
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
        this.openContainer(byte, undefined);
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
    const { key } = this;
    if (key !== undefined) {
      this.key = undefined;
      this.recordDeep(key, byte);
    }
    const member = this.current?.openMember;
    if (member !== undefined) member.start = this.at;
    if (byte === QUOTE) this.beginText(State.valueText);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.openContainer(byte, key);
    else this.readScalar();
  }

  private readScalar(): void {
    const end = scalarEnd(this.bytes, this.at);
    if (end === NOT_JSON) throw this.refusal('expected a value');
    this.at = end;
    this.endValue();
  }

  private readAfterValue(byte: number): void {
    const isObject = this.containers[this.containers.length - 1] === OPEN_OBJECT;
    if (byte === COMMA) {
      if (this.current !== undefined) this.recordComma(this.current);
      else if (this.containers.length === 2) this.entries++;
      this.at++;
      this.state = isObject ? State.key : State.value;
    } else if (byte === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.closeContainer();
    else throw this.refusal(isObject ? 'expected a comma or }' : 'expected a comma or ]');
  }

  private beginText(state: State): void {
    this.textStart = this.at;
    this.textEscaped = false;
    this.state = state;
    this.at++;
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
    this.endText();
  }

  private endText(): void {
    if (this.state === State.keyText) {
      this.state = State.colon;
      if (this.current !== undefined) this.current.memberCount++;
      const found = this.names.find(this.bytes, this.textStart + 1, this.at - 1, this.textEscaped);
      if (found !== undefined) this.recordName(found);
      return;
    }
    if (this.inMedia) {
      this.mediaBytes += this.at - this.textStart;
      this.inMedia = false;
    }
    if (this.openDeep !== undefined) {
      this.openDeep.end = this.at;
      this.openDeep = undefined;
    }
    this.endValue();
  }

  private endValue(): void {
    this.state = State.after;
    const member = this.current?.openMember;
    if (member !== undefined) member.end = this.at;
  }

  private openContainer(kind: number, key: JudgedName | undefined): void {
    const isEntry = key === undefined && this.containers[this.containers.length - 1] === OPEN_ARRAY;
    const holder = isEntry ? this.holders[this.holders.length - 1] : key;
    const depth = this.containers.push(kind);
    if (depth > MAX_DEPTH) throw this.refusal(`more than ${MAX_DEPTH} levels`);
    if (depth === 2) this.entries = 0;
    if (key !== undefined && this.freeDepth === 0 && this.isFree(key, kind)) this.freeDepth = depth;
    this.current = kind === OPEN_OBJECT ? this.spanFor(holder, depth, isEntry) : undefined;
    this.holders.push(holder);
    this.spans.push(this.current);
    if (kind === OPEN_OBJECT) this.objects++;
    this.at++;
    this.state = kind === OPEN_OBJECT ? State.firstKey : State.firstElement;
  }

  /** Whether a container holds the application's own data: below the root object, or `metadata` at the root. */
  private isFree(key: JudgedName, kind: number): boolean {
    if (kind === OPEN_ARRAY) return key.isFreeList && this.objects > 1;
    return key.isFreeObject && (this.objects > 1 || key.name === 'metadata');
  }

  /** The record of an object being opened; undefined where none of its members is listed. */
  private spanFor(holder: JudgedName | undefined, depth: number, isEntry: boolean): ObjectSpan | undefined {
    if (depth === 1) {
      this.root.open = this.at;
      return this.root;
    }
    if (holder === undefined) return undefined;
    if (depth === 2 && this.names.isParent(holder.name)) {
      const nested = new ObjectSpan(this.at, holder.name);
      const parent = this.root.openMember;
      if (parent !== undefined) parent.nested = nested;
      return nested;
    }
    const place = holder.holdsObjects;
    const isHeld = place === 'anywhere' ? this.freeDepth === 0 : place === 'root' && this.objects === 1;
    return isHeld ? new ObjectSpan(this.at, holder.name, isEntry ? this.entries : -1) : undefined;
  }

  private closeContainer(): void {
    const closed = this.current;
    if (closed !== undefined) {
      closed.close = this.at;
      if (closed.isNamed && closed.doubt !== undefined) throw closed.doubt;
      if (closed.isNamed) this.named.push(closed);
    }
    if (this.containers.length === this.freeDepth) this.freeDepth = 0;
    if (this.containers.pop() === OPEN_OBJECT) this.objects--;
    this.holders.pop();
    this.spans.pop();
    this.at++;
    if (this.containers.length === 0) {
      this.current = undefined;
      this.state = State.trailing;
      return;
    }
    this.current = this.spans[this.spans.length - 1];
    this.endValue();
  }

  private recordComma(object: ObjectSpan): void {
    object.lastComma = this.at;
    if (object.openMember === undefined) return;
    object.openMember.commaAfter = this.at;
    object.openMember = undefined;
  }

  private recordName({ judged, written }: FoundName): void {
    this.key = judged;
    const object = this.current;
    if (object === undefined || !this.isJudgedIn(object, judged)) return;
    if (written !== judged.name || object.members.has(judged.name)) {
      this.refuseName(object, judged, written);
      return;
    }
    object.openMember = new MemberSpan(judged.name, object.memberCount - 1, this.textStart, object.lastComma);
    object.members.set(judged.name, object.openMember);
    if (judged.isId) object.isNamed = true;
  }

  /**
   * Handles a name with two readings. Below the root and its listed parents it matters only in an object with an id.
   */
  private refuseName(object: ObjectSpan, { name, isId }: JudgedName, written: string): void {
    const at = `at byte ${this.textStart}`;
    const problem =
      written === name
        ? `named twice, again ${at}`
        : `${shownText(written)} ${at} differs from this name by letter case alone`;
    const refusal = invalidRequest(pathIn(object, name), problem);
    if (object === this.root || this.names.isParent(object.holder)) throw refusal;
    object.doubt ??= refusal;
    object.isNamed ||= isId;
  }

  private isJudgedIn(object: ObjectSpan, judged: JudgedName): boolean {
    return object === this.root ? judged.root : judged.parents.has(object.holder);
  }

  /** @param byte the first byte of the value. */
  private recordDeep(key: JudgedName, byte: number): void {
    const isAddress = key.isAddress || (key.name === 'url' && this.holders[this.holders.length - 1]?.holdsAddress);
    if (
      (!key.deep && !isAddress) ||
      (byte !== QUOTE && byte !== OPEN_ARRAY && !(key.isSetting && byte === OPEN_OBJECT))
    ) {
      return;
    }
    if (key.isMedia) {
      this.mediaParts++;
      this.inMedia = byte === QUOTE;
    }
    if (this.freeDepth > 0 || (isAddress ? byte !== QUOTE : key.isMedia)) return;
    // An id in a recorded object is validated with the object.
    if (key.isId && this.current !== undefined && this.isJudgedIn(this.current, key)) return;
    if (isAddress && isData(this.bytes, this.at + 1)) return;
    this.addDeep(key.name, byte);
  }

  private addDeep(name: string, byte: number): void {
    if (this.deep.length === MAX_DEEP_MEMBERS) throw invalidRequest(name, `more than ${MAX_DEEP_MEMBERS} times`);
    const kind = byte === QUOTE ? 'string' : byte === OPEN_ARRAY ? 'array' : 'object';
    const member: DeepMember = { name, kind, start: this.at, end: this.at };
    this.deep.push(member);
    if (kind === 'string') this.openDeep = member;
  }

  private refusal(problem: string): GatewayError {
    return invalidRequest(
      'body',
      `not valid JSON: ${problem} at byte ${this.at}, near ${snippet(this.bytes, this.at)}`,
    );
  }
}

/** Path of a member of a recorded object in errors. */
function pathIn({ holder, index }: ObjectSpan, name: string): string {
  if (holder === '') return name;
  return index === -1 ? `${holder}.${name}` : `${holder}.${index}.${name}`;
}

const DATA_SCHEME = Buffer.from('data:');

/** Whether a string starts as a `data:` URL. */
function isData(bytes: Buffer, start: number): boolean {
  return DATA_SCHEME.every((byte, at) => bytes[start + at] === byte);
}

/**
 * Scans a body in one step; for bodies of at most `SCAN_STEP_BYTES`. Callers step longer ones.
 *
 * @throws invalid_request
 */
export function scanJson(bytes: Buffer, names: JudgedNames): ScannedBody {
  const scan = new JsonScan(bytes, names);
  scan.step(Math.max(1, bytes.length));
  return scan;
}
