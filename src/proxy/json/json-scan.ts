import { displayText } from '../../common/errors/display-text.rules.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { FREE_AT_ROOT } from '../../upstreams/kept-objects.js';
import { type CheckedMember, CheckedMembers, type FoundName, REQUEST_NAMES } from './checked-members.js';
import { JsonMerge, type MergeMembers } from './json-merge.js';
import { JsonTokenizer, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-tokenizer.js';
import { type DeepMember, MemberSpan, ObjectSpan, type ScannedBody } from './scanned-body.js';

/** Maximum nesting of objects and arrays, the root included. Source: docs/reference/security.md#bounded-work. */
export const MAX_DEPTH = 128;

/** Maximum number of deep names in one body; far above any real request. */
const MAX_DEEP_MEMBERS = 4096;

export interface ScanOptions {
  /** The members to record; by default those that policy validates. */
  readonly names?: CheckedMembers;
  /** Receives the tokens too, to merge members into the same bytes. */
  readonly merge?: JsonMerge;
  readonly maxDepth?: number;
}

/**
 * Scans a JSON object in raw bytes and records the offsets of the listed members, so that every other byte can be
 * forwarded unchanged.
 *
 * Refuses with `invalid_request`: what `JsonTokenizer` refuses, more than `MAX_DEPTH` levels, a listed member
 * duplicated in one object (in any spelling), and a member that differs from a listed one by letter case only, because
 * some decoders treat both as equal. Source: docs/reference/application-api.md#bodies,
 * docs/reference/security.md#bounded-work, docs/reference/security.md#checked-and-sent-bytes.
 */
export class JsonScan extends JsonTokenizer implements ScannedBody {
  readonly root = new ObjectSpan(-1);
  readonly deep: DeepMember[] = [];
  mediaParts = 0;
  mediaBytes = 0;
  readonly named: ObjectSpan[] = [];

  /** Per container: the listed name that holds it, directly or as an entry of that name's list. */
  private readonly holders: (CheckedMember | undefined)[] = [];
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
  /** The listed name of the value that is being read, until it opens or ends. */
  private key: CheckedMember | undefined;
  /** The deep member whose string is being read. */
  private openDeep: DeepMember | undefined;
  /** Start of the media string that is being read; -1 outside of one. */
  private mediaStart = -1;
  private readonly names: CheckedMembers;
  private readonly merge: JsonMerge | undefined;
  private readonly maxDepth: number;

  constructor(bytes: Buffer, { names = REQUEST_NAMES, merge, maxDepth = MAX_DEPTH }: ScanOptions = {}) {
    super(bytes);
    this.names = names;
    this.merge = merge;
    this.maxDepth = maxDepth;
  }

  get hasMedia(): boolean {
    return this.mediaParts > 0;
  }

  protected override onName(start: number, end: number, escaped: boolean): void {
    this.merge?.onName(start, end, escaped);
    if (this.current !== undefined) this.current.memberCount++;
    const found = this.names.find(this.bytes, start, end, escaped);
    if (found !== undefined) this.recordName(found, start - 1);
  }

  protected override onValue(byte: number): void {
    this.merge?.onValue(this.at, byte);
    if (this.key !== undefined) this.recordDeep(this.key, byte);
    const member = this.current?.openMember;
    if (member !== undefined) member.start = this.at;
  }

  protected override onOpen(kind: number): void {
    this.merge?.onOpen();
    const { key } = this;
    this.key = undefined;
    const isEntry = key === undefined && this.containers[this.containers.length - 1] === OPEN_ARRAY;
    const holder = isEntry ? this.holders[this.holders.length - 1] : key;
    const depth = this.holders.push(holder);
    if (depth > this.maxDepth) throw this.refusal(`more than ${MAX_DEPTH} levels`);
    if (depth === 2) this.entries = 0;
    if (key !== undefined && this.freeDepth === 0 && this.isFree(key, kind)) this.freeDepth = depth;
    this.current = kind === OPEN_OBJECT ? this.spanFor(holder, depth, isEntry) : undefined;
    this.spans.push(this.current);
    if (kind === OPEN_OBJECT) this.objects++;
  }

  protected override onClose(): void {
    this.merge?.onClose(this.at);
    const closed = this.current;
    if (closed !== undefined) {
      closed.close = this.at;
      if (closed.isNamed && closed.doubt !== undefined) throw closed.doubt;
      if (closed.isNamed) this.named.push(closed);
    }
    const depth = this.holders.length;
    if (depth === this.freeDepth) this.freeDepth = 0;
    if (this.containers[depth - 1] === OPEN_OBJECT) this.objects--;
    this.holders.pop();
    this.spans.pop();
    this.current = this.spans[this.spans.length - 1];
  }

  protected override onValueEnd(): void {
    this.merge?.onValueEnd(this.at);
    this.key = undefined;
    const member = this.current?.openMember;
    if (member !== undefined) member.end = this.at;
    if (this.openDeep !== undefined) {
      this.openDeep.end = this.at;
      this.openDeep = undefined;
    }
    if (this.mediaStart !== -1) {
      this.mediaBytes += this.at - this.mediaStart;
      this.mediaStart = -1;
    }
  }

  protected override onComma(): void {
    const object = this.current;
    if (object === undefined) {
      if (this.containers.length === 2) this.entries++;
      return;
    }
    object.lastComma = this.at;
    if (object.openMember === undefined) return;
    object.openMember.commaAfter = this.at;
    object.openMember = undefined;
  }

  /** Whether a container holds the application's own data. */
  private isFree(key: CheckedMember, kind: number): boolean {
    const isFree = kind === OPEN_ARRAY ? key.isFreeList : key.isFreeObject;
    return isFree && (this.objects > 1 || FREE_AT_ROOT.has(key.name));
  }

  /** The record of an object being opened; undefined where none of its members is listed. */
  private spanFor(holder: CheckedMember | undefined, depth: number, isEntry: boolean): ObjectSpan | undefined {
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

  /** @param keyStart the opening quote. */
  private recordName({ checked, written }: FoundName, keyStart: number): void {
    this.key = checked;
    const object = this.current;
    if (object === undefined || !this.isCheckedIn(object, checked)) return;
    if (written !== checked.name || object.members.has(checked.name)) {
      this.refuseName(object, checked, written, keyStart);
      return;
    }
    object.openMember = new MemberSpan(checked.name, object.memberCount - 1, keyStart, object.lastComma);
    object.members.set(checked.name, object.openMember);
    if (checked.isId) object.isNamed = true;
  }

  /**
   * Handles a name with two readings. Below the root and its listed parents it matters only in an object with an id.
   */
  private refuseName(object: ObjectSpan, { name, isId }: CheckedMember, written: string, keyStart: number): void {
    const at = `at byte ${keyStart}`;
    const problem =
      written === name
        ? `named twice, again ${at}`
        : `${displayText(written)} ${at} differs from this name only by letter case`;
    const refusal = invalidRequest(pathIn(object, name), problem);
    if (object === this.root || this.names.isParent(object.holder)) throw refusal;
    object.doubt ??= refusal;
    object.isNamed ||= isId;
  }

  private isCheckedIn(object: ObjectSpan, checked: CheckedMember): boolean {
    return object === this.root ? checked.root : checked.parents.has(object.holder);
  }

  /** @param byte the first byte of the value. */
  private recordDeep(key: CheckedMember, byte: number): void {
    const isAddress = key.isAddress || (key.name === 'url' && this.holders[this.holders.length - 1]?.holdsAddress);
    if (
      (!key.deep && !isAddress) ||
      (byte !== QUOTE && byte !== OPEN_ARRAY && !(key.isSetting && byte === OPEN_OBJECT))
    ) {
      return;
    }
    if (key.isMedia) {
      this.mediaParts++;
      if (byte === QUOTE) this.mediaStart = this.at;
    }
    if (this.freeDepth > 0 || (isAddress ? byte !== QUOTE : key.isMedia)) return;
    // An id in a recorded object is validated with the object.
    if (key.isId && this.current !== undefined && this.isCheckedIn(this.current, key)) return;
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
 * Scans a body; a long one takes several event loop turns.
 *
 * @throws invalid_request
 */
export function scanBody(bytes: Buffer, options?: ScanOptions): MaybePromise<ScannedBody> {
  return new JsonScan(bytes, options).run();
}

/**
 * Scans a short body in one step.
 *
 * @throws invalid_request
 */
export function scanJson(bytes: Buffer, names: CheckedMembers): ScannedBody {
  const scan = new JsonScan(bytes, { names });
  scan.step();
  return scan;
}

const NO_NAMES = new CheckedMembers({ root: [], nested: {}, deep: [], media: [] });

/** Scans validated bytes for a merge alone; any depth is accepted. */
export function mergeScan(bytes: Buffer, merge: JsonMerge): JsonScan {
  return new JsonScan(bytes, { names: NO_NAMES, merge, maxDepth: Number.POSITIVE_INFINITY });
}

/**
 * Merges members over a short, validated JSON object in one step.
 *
 * @returns the same buffer when nothing changes.
 * @throws invalid_request as `JsonMerge`.
 */
export function mergeMembers(bytes: Buffer, members: MergeMembers): Buffer {
  if (members.size === 0) return bytes;
  const merge = new JsonMerge(bytes, members);
  mergeScan(bytes, merge).step();
  return merge.merged();
}
