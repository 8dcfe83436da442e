import { isUtf8 } from 'node:buffer';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { type DeepMember, MemberSpan, ObjectSpan, type ScannedBody } from './json-members.js';
import { escapeEnd, NOT_JSON, plainTextEnd, scalarEnd, snippet } from './json-syntax.rules.js';
import type { FoundName, JudgedName, JudgedNames } from './judged-names.js';

/** Objects and arrays inside each other, the root included. Source: threats 2.6. */
export const MAX_DEPTH = 128;

/** Bytes to read between two turns of the event loop: a few milliseconds' worth. Source: threats 10.7. */
export const SCAN_STEP_BYTES = 1024 * 1024;

/** Deep judged names in one body; far above any real request. */
const MAX_DEEP_MEMBERS = 4096;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What may come next. */
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
 * Reads a JSON object from its raw bytes, strictly by RFC 8259, and records where the judged members stand, so that
 * every other byte can be sent on unchanged. One pass, no copy, may be done in steps.
 *
 * Refused with `invalid_request`: anything that is not a JSON object in UTF-8, a byte order mark, more than
 * `MAX_DEPTH` levels, a judged member named twice in one object (in whatever spelling), and a member that differs
 * from a judged one by letter case alone, because some decoders take it for the judged one.
 * Source: decision 3.5, threats 2.6 and 3.1.
 */
export class JsonScan implements ScannedBody {
  readonly root = new ObjectSpan(-1);
  readonly deep: DeepMember[] = [];
  hasMedia = false;

  private at = 0;
  private state: State = State.root;
  private readonly containers: number[] = [];
  /** The object whose members are recorded, when the scan stands directly in one. */
  private current: ObjectSpan | undefined;
  private nested: ObjectSpan | undefined;
  private textStart = 0;
  private textEscaped = false;
  private deepName: string | undefined;
  private openDeep: DeepMember | undefined;

  constructor(
    readonly bytes: Buffer,
    private readonly names: JudgedNames,
  ) {}

  /**
   * Reads on for about `maxBytes`. What was recorded is complete once this has returned true.
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

  /** The first byte of a container's content, of the body, or behind the body. */
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
    if (this.deepName !== undefined) this.recordDeep(byte);
    const member = this.current?.openMember;
    if (member !== undefined) member.start = this.at;
    if (byte === QUOTE) this.beginText(State.valueText);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.openContainer(byte);
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

  private openContainer(kind: number): void {
    const depth = this.containers.push(kind);
    if (depth > MAX_DEPTH) throw this.refusal(`more than ${MAX_DEPTH} levels`);
    if (depth === 1) {
      this.root.open = this.at;
      this.current = this.root;
    } else {
      const parent = depth === 2 && kind === OPEN_OBJECT ? this.root.openMember : undefined;
      this.current = undefined;
      if (parent !== undefined && this.names.isParent(parent.name)) {
        this.nested = new ObjectSpan(this.at);
        parent.nested = this.nested;
        this.current = this.nested;
      }
    }
    this.at++;
    this.state = kind === OPEN_OBJECT ? State.firstKey : State.firstElement;
  }

  private closeContainer(): void {
    if (this.current !== undefined) this.current.close = this.at;
    this.containers.pop();
    this.at++;
    const depth = this.containers.length;
    if (depth === 0) {
      this.state = State.trailing;
      return;
    }
    if (depth === 1) this.nested = undefined;
    this.current = depth === 1 ? this.root : depth === 2 ? this.nested : undefined;
    this.endValue();
  }

  private recordComma(object: ObjectSpan): void {
    object.lastComma = this.at;
    if (object.openMember === undefined) return;
    object.openMember.commaAfter = this.at;
    object.openMember = undefined;
  }

  private recordName({ judged, written }: FoundName): void {
    if (judged.deep) this.deepName = judged.name;
    const object = this.current;
    const path = object === undefined ? undefined : this.pathOf(object, judged);
    if (object === undefined || path === undefined) return;
    if (written !== judged.name) {
      const seen = snippet(this.bytes, this.textStart + 1);
      throw invalidRequest(path, `${seen} at byte ${this.textStart} differs from this name by letter case alone`);
    }
    if (object.members.has(judged.name)) throw invalidRequest(path, `named twice, again at byte ${this.textStart}`);
    object.openMember = new MemberSpan(judged.name, object.memberCount - 1, this.textStart, object.lastComma);
    object.members.set(judged.name, object.openMember);
  }

  /** What an error calls the member; undefined where the name is not judged in this object. */
  private pathOf(object: ObjectSpan, judged: JudgedName): string | undefined {
    if (object === this.root) return judged.root ? judged.name : undefined;
    const parent = this.root.openMember?.name ?? '';
    return judged.parents.has(parent) ? `${parent}.${judged.name}` : undefined;
  }

  private recordDeep(byte: number): void {
    const name = this.deepName;
    this.deepName = undefined;
    if (name === undefined || (byte !== QUOTE && byte !== OPEN_ARRAY)) return;
    const isMedia = this.names.isMedia(name);
    this.hasMedia ||= isMedia;
    if (isMedia) return;
    if (this.deep.length === MAX_DEEP_MEMBERS) throw invalidRequest(name, `more than ${MAX_DEEP_MEMBERS} times`);
    const member: DeepMember = { name, kind: byte === QUOTE ? 'string' : 'array', start: this.at, end: this.at };
    this.deep.push(member);
    if (member.kind === 'string') this.openDeep = member;
  }

  private refusal(problem: string): GatewayError {
    return invalidRequest(
      'body',
      `not valid JSON: ${problem} at byte ${this.at}, near ${snippet(this.bytes, this.at)}`,
    );
  }
}

/**
 * Reads a body in one go; for bodies of at most `SCAN_STEP_BYTES`, longer ones are stepped by the caller.
 *
 * @throws invalid_request
 */
export function scanJson(bytes: Buffer, names: JudgedNames): ScannedBody {
  const scan = new JsonScan(bytes, names);
  scan.step(Math.max(1, bytes.length));
  return scan;
}
