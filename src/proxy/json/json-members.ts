import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';

/** Where one judged member stands in the body. Offsets are bytes; `end` is the first byte after the value. */
export class MemberSpan {
  start = -1;
  end = -1;
  /** The comma behind the value; -1 on the last member. */
  commaAfter = -1;
  /** The members inside, when the value is an object and its name is a judged parent. */
  nested: ObjectSpan | undefined;

  /**
   * @param index how many members of the same object stand before it.
   * @param keyStart the opening quote of its key.
   * @param commaBefore the comma in front of it; -1 on the first member.
   */
  constructor(
    readonly name: string,
    readonly index: number,
    readonly keyStart: number,
    readonly commaBefore: number,
  ) {}
}

/** An object whose judged members were recorded. `open` and `close` are the offsets of its braces. */
export class ObjectSpan {
  close = -1;
  /** All members, judged or not. */
  memberCount = 0;
  readonly members = new Map<string, MemberSpan>();
  /** For the scan alone: the comma read last, and the judged member whose value or comma is still to come. */
  lastComma = -1;
  openMember: MemberSpan | undefined;
  /** Whether it has a member by which it names something. */
  isNamed = false;
  /** Why it could be read in two ways, if it could. */
  doubt: GatewayError | undefined;

  /**
   * @param holder the judged member that it stands under; empty at the root.
   * @param index among the entries of the holder's list; -1 when it is the holder's own value.
   */
  constructor(
    public open: number,
    readonly holder = '',
    readonly index = -1,
  ) {}
}

/** A deep judged name with a string, array or object value, at any depth. Of a string alone the end is known. */
export interface DeepMember {
  readonly name: string;
  readonly kind: 'string' | 'array' | 'object';
  readonly start: number;
  end: number;
}

/** A body that was read to its end and found valid. */
export interface ScannedBody {
  readonly bytes: Buffer;
  readonly root: ObjectSpan;
  readonly deep: readonly DeepMember[];
  /** Objects under judged holders that have an id. */
  readonly named: readonly ObjectSpan[];
  /** Whether a text or array holds a picture, a recording or a document, or says where one is. */
  readonly hasMedia: boolean;
  /** How many such texts and arrays there are. */
  readonly mediaParts: number;
  /** What of the body those texts are. */
  readonly mediaBytes: number;
}

/** Values that policy reads are names, numbers and switches: a longer one is a mistake or an attack. */
const SMALL_VALUE_MAX_BYTES = 1024;

/**
 * The value of a judged member.
 *
 * @param path what an error calls the member.
 * @param maxBytes longest text that is parsed.
 * @throws invalid_request the text is longer.
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

/** Whether the list that begins at `start` has an entry, or the object a member. */
export function hasEntries(bytes: Buffer, start: number): boolean {
  let at = start + 1;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return bytes[at] !== 0x5d && bytes[at] !== 0x7d;
}

/** Whether the member is there with more than `null`, an empty text, an empty list or an empty object. */
export function isFilled(bytes: Buffer, member: MemberSpan | undefined): boolean {
  if (!isNamed(bytes, member)) return false;
  const first = bytes[member.start];
  if (first === 0x22) return member.end - member.start > 2;
  return (first !== 0x5b && first !== 0x7b) || hasEntries(bytes, member.start);
}

/** Whether the member is there with a value other than `null`; looks at one byte. */
export function isNamed(bytes: Buffer, member: MemberSpan | undefined): member is MemberSpan {
  return member !== undefined && bytes[member.start] !== 0x6e;
}
