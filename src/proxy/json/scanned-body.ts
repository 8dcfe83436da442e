import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';

/** Byte offsets of one recorded member; `end` is the first byte after the value. */
export class MemberSpan {
  start = -1;
  end = -1;
  /** The comma after the value; -1 on the last member. */
  commaAfter = -1;
  /** The recorded members inside, when the value is an object and its name is a listed parent. */
  nested: ObjectSpan | undefined;

  /**
   * @param index number of preceding members in the same object.
   * @param keyStart the opening quote of its key.
   * @param commaBefore the comma before it; -1 on the first member.
   */
  constructor(
    readonly name: string,
    readonly index: number,
    readonly keyStart: number,
    readonly commaBefore: number,
  ) {}
}

/** An object with recorded members. `open` and `close` are the offsets of its braces. */
export class ObjectSpan {
  close = -1;
  /** All members, recorded or not. */
  memberCount = 0;
  readonly members = new Map<string, MemberSpan>();
  /** State of the scan: the last comma, and the recorded member whose value or following comma is pending. */
  lastComma = -1;
  openMember: MemberSpan | undefined;
  /** Whether it has a member that may identify a stored object. */
  isNamed = false;
  /** Why it has more than one reading, if it has. */
  doubt: GatewayError | undefined;

  /**
   * @param holder the listed member that contains it; empty at the root.
   * @param index position in the holder's list; -1 when it is the holder's own value.
   */
  constructor(
    public open: number,
    readonly holder = '',
    readonly index = -1,
  ) {}
}

/** A member with a deep name and a string, array or object value, at any depth. `end` is valid for strings only. */
export interface DeepMember {
  readonly name: string;
  readonly kind: 'string' | 'array' | 'object';
  readonly start: number;
  end: number;
}

/** A completely scanned, valid body. */
export interface ScannedBody {
  readonly bytes: Buffer;
  readonly root: ObjectSpan;
  readonly deep: readonly DeepMember[];
  /** Objects under listed holders that have an id. */
  readonly named: readonly ObjectSpan[];
  /** Whether a string or array contains an image, a recording or a document, or references one. */
  readonly hasMedia: boolean;
  /** Number of such strings and arrays. */
  readonly mediaParts: number;
  /** Total bytes of such strings. */
  readonly mediaBytes: number;
}

/** Validated values are names, numbers and switches: a longer one is a mistake or an attack. */
const SMALL_VALUE_MAX_BYTES = 1024;

/**
 * Parses the value of a recorded member.
 *
 * @param path name of the member in errors.
 * @param maxBytes maximum length of the value text.
 * @throws invalid_request the value text is longer.
 */
export function memberValue(
  bytes: Buffer,
  member: MemberSpan,
  path: string,
  maxBytes: number = SMALL_VALUE_MAX_BYTES,
): unknown {
  if (member.end - member.start > maxBytes) throw invalidRequest(path, `longer than ${maxBytes} bytes`);
  return JSON.parse(bytes.toString('utf8', member.start, member.end));
}

/** The offset of the next byte that is not white space. */
export function nextSign(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** Whether the list or object that starts at `start` is not empty. */
export function hasEntries(bytes: Buffer, start: number): boolean {
  const first = bytes[nextSign(bytes, start + 1)];
  return first !== 0x5d && first !== 0x7d;
}

/** Whether the member has a value other than `null`, an empty string, an empty list or an empty object. */
export function isFilled(bytes: Buffer, member: MemberSpan | undefined): boolean {
  if (!isNamed(bytes, member)) return false;
  const first = bytes[member.start];
  if (first === 0x22) return member.end - member.start > 2;
  return (first !== 0x5b && first !== 0x7b) || hasEntries(bytes, member.start);
}

/** Whether the member has a value other than `null`; reads one byte. */
export function isNamed(bytes: Buffer, member: MemberSpan | undefined): member is MemberSpan {
  return member !== undefined && bytes[member.start] !== 0x6e;
}
