import { invalidRequest } from '../../common/errors/gateway-error.js';

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

  constructor(public open: number) {}
}

/** A deep judged name with a string or array value, at any depth. For an array only `start` is meaningful. */
export interface DeepMember {
  readonly name: string;
  readonly kind: 'string' | 'array';
  readonly start: number;
  end: number;
}

/** A body that was read to its end and found valid. */
export interface ScannedBody {
  readonly bytes: Buffer;
  readonly root: ObjectSpan;
  readonly deep: readonly DeepMember[];
  /** Whether a text or array holds a picture, a recording or a document, or says where one is. */
  readonly hasMedia: boolean;
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

/** Whether the member is there with a value other than `null`; looks at one byte. */
export function isNamed(bytes: Buffer, member: MemberSpan | undefined): member is MemberSpan {
  return member !== undefined && bytes[member.start] !== 0x6e;
}
