import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { memberPath } from '../../common/fields/config-values.js';
import { isJsonObject } from '../../common/json-object.js';
import { type Splice, splice } from './json-edit.js';
import { OPEN_OBJECT, QUOTE } from './json-tokenizer.js';

/**
 * Never merged, at any depth: some parsers do not treat it as a plain member.
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
const INERT_NAME = '__proto__';

/** A code unit takes at most six bytes in JSON text (a `\uXXXX` escape). */
const MAX_BYTES_PER_UNIT = 6;

/** One member to merge, serialised. */
interface MergeMember {
  /** Name in errors: member names joined by dots. */
  readonly path: string;
  /** The value as JSON text. */
  readonly value: Buffer;
  /** Name and value as JSON text. */
  readonly member: string;
  /** The members inside, when the value is an object. */
  readonly nested: MergeMembers | undefined;
}

/** Compiled members of one object: built once, looked up for every key. Names are compared unescaped. */
export class MergeMembers {
  readonly #byName = new Map<string, MergeMember>();
  /** One bit per name length and per first byte; they exclude most other keys. */
  #lengths = 0;
  #firstBytes = 0;
  #longest = 0;

  /** @param path of the object itself; empty at the root. */
  constructor(members: Readonly<Record<string, unknown>>, path: string) {
    for (const [name, value] of Object.entries(members)) {
      if (name !== INERT_NAME && value !== undefined) this.#add(name, value, path);
    }
  }

  get size(): number {
    return this.#byName.size;
  }

  /** In insertion order. */
  all(): IteratorObject<MergeMember> {
    return this.#byName.values();
  }

  /**
   * Finds the member of a key.
   *
   * @param start first byte of the key's text, after the quote; `end` is the closing quote.
   * @param escaped whether the text contains a backslash; the escapes must be valid.
   */
  find(bytes: Buffer, start: number, end: number, escaped: boolean): MergeMember | undefined {
    const length = end - start;
    if (length > this.#longest * (escaped ? MAX_BYTES_PER_UNIT : 1)) return undefined;
    if (!escaped) {
      const isPossible = (this.#lengths & bitOf(length)) !== 0 && (this.#firstBytes & firstBit(bytes[start])) !== 0;
      return isPossible ? this.#byName.get(bytes.toString('utf8', start, end)) : undefined;
    }
    const name: unknown = JSON.parse(`"${bytes.toString('utf8', start, end)}"`);
    return typeof name === 'string' ? this.#byName.get(name) : undefined;
  }

  #add(name: string, value: unknown, path: string): void {
    const json = JSON.stringify(value, (key, part: unknown) => (key === INERT_NAME ? undefined : part));
    const memberAt = path === '' ? memberPath('', name).slice(1) : memberPath(path, name);
    this.#byName.set(name, {
      path: memberAt,
      value: Buffer.from(json),
      member: `${JSON.stringify(name)}:${json}`,
      nested: isJsonObject(value) ? new MergeMembers(value, memberAt) : undefined,
    });
    const text = Buffer.from(name);
    this.#lengths |= bitOf(text.length);
    this.#firstBytes |= firstBit(text[0]);
    this.#longest = Math.max(this.#longest, text.length);
  }
}

/** Compiles members to merge; members named `__proto__` are omitted at every depth. */
export function compileMembers(members: Readonly<Record<string, unknown>>): MergeMembers {
  return new MergeMembers(members, '');
}

function bitOf(length: number): number {
  return 1 << (length < 31 ? length : 31);
}

/** Defaults to the closing quote, which follows an empty key. */
function firstBit(byte: number = QUOTE): number {
  return 1 << (byte & 31);
}

/** An object of the body with members to merge. */
class MergedObject {
  isEmpty = true;
  readonly seen = new Set<MergeMember>();
  /** The member whose value is being read and will be replaced. */
  replaced: MergeMember | undefined;

  constructor(readonly members: MergeMembers) {}
}

/**
 * Merges members over a JSON object at every depth, by the tokens that `JsonScan` reports. Where both sides have an
 * object, the objects are merged; elsewhere the merged value replaces the value of the body, arrays and `null`
 * included. Missing members are added at the end of their object. All other bytes are unchanged. Source:
 * docs/reference/application-api.md#endpoint-bodies.
 */
export class JsonMerge {
  private readonly splices: Splice[] = [];
  /** The open objects with members to merge; each holds the next. */
  private readonly objects: MergedObject[] = [];
  /** The innermost open container, if it is such an object. */
  private current: MergedObject | undefined;
  /** Number of open containers inside the innermost such object. */
  private others = 0;
  /** Start of the value that will be replaced. */
  private replacedFrom = -1;
  private refusal: GatewayError | undefined;

  /** @param next the members to merge into the object that opens next: at first the root. */
  constructor(
    private readonly bytes: Buffer,
    private next: MergeMembers | undefined,
  ) {}

  /**
   * The merged body; the same buffer when nothing changed.
   *
   * @throws invalid_request a member to merge is duplicated in its object, in any spelling.
   */
  merged(): Buffer {
    if (this.refusal !== undefined) throw this.refusal;
    return splice(this.bytes, this.splices);
  }

  onName(start: number, end: number, escaped: boolean): void {
    const object = this.current;
    if (object === undefined) return;
    object.isEmpty = false;
    const member = object.members.find(this.bytes, start, end, escaped);
    if (member === undefined) return;
    if (object.seen.has(member))
      this.refusal ??= invalidRequest(member.path, `named twice, again at byte ${start - 1}`);
    object.seen.add(member);
    object.replaced = member;
  }

  onValue(at: number, byte: number): void {
    const object = this.current;
    if (object?.replaced === undefined) return;
    if (byte === OPEN_OBJECT && object.replaced.nested !== undefined) {
      this.next = object.replaced.nested;
      object.replaced = undefined;
    } else this.replacedFrom = at;
  }

  onOpen(): void {
    if (this.next === undefined) {
      this.current = undefined;
      this.others++;
      return;
    }
    this.current = new MergedObject(this.next);
    this.objects.push(this.current);
    this.next = undefined;
  }

  onClose(at: number): void {
    if (this.others > 0) this.others--;
    else {
      const closed = this.objects.pop();
      if (closed !== undefined) this.addMissing(closed, at);
    }
    if (this.others === 0) this.current = this.objects[this.objects.length - 1];
  }

  onValueEnd(at: number): void {
    const object = this.current;
    if (object?.replaced === undefined) return;
    const { value } = object.replaced;
    object.replaced = undefined;
    if (this.bytes.compare(value, 0, value.length, this.replacedFrom, at) === 0) return;
    this.splices.push({ start: this.replacedFrom, end: at, text: value });
  }

  private addMissing({ members, seen, isEmpty }: MergedObject, at: number): void {
    if (seen.size === members.size) return;
    const missing = [...members.all()].filter((member) => !seen.has(member)).map(({ member }) => member);
    this.splices.push({ start: at, end: at, text: `${isEmpty ? '' : ','}${missing.join()}` });
  }
}
