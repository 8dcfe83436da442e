import type { Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import { invalidRequest } from '../errors/gateway-error.js';
import { described, memberPath, objectEntries, oneOf, type Read, type ReadContext } from './config-values.js';

interface Member {
  readonly name: string;
  /** The value of an absent member, or its error. */
  absent(path: string): unknown;
  readonly read: Read<unknown>;
  /** The word of the member that distinguishes the classes of a union. */
  readonly tag?: string;
  readonly late?: boolean;
  check?(value: unknown, siblings: object, path: string): void;
}

/** What a class declares and inherits. */
interface Members {
  /** In the order of the result: the tag, then the order of declaration. */
  readonly all: readonly Member[];
  /** In the order of errors. */
  readonly reading: readonly Member[];
  readonly names: ReadonlySet<string>;
}

interface FieldOptions<T> {
  readonly description?: string;
  /** Documents the default. */
  readonly showDefault?: boolean;
  /** Read after the members that are not late. */
  readonly late?: boolean;
  /**
   * A rule that concerns members read before this one as well.
   *
   * @param siblings these members.
   */
  check?(value: T, siblings: object, path: string): void;
}

/** Checks that the property has a type for everything the field reads. */
type Field<T> = <C extends object, K extends string & keyof C>(
  target: C,
  name: K & (T extends C[K] ? K : never),
) => void;

const declared = new Map<object, Member[]>();
const membersOfType = new Map<Type, Members>();

/** A member that must be sent. Its type, its rule and its OpenAPI property in one. */
export function Required<T>(read: Read<T>, options: FieldOptions<T> = {}): Field<T> {
  const absent = (path: string) => {
    throw invalidRequest(path, 'is required');
  };
  return field({ read, absent, ...options }, { required: true, ...documented(options) });
}

/** A member that may be absent. */
export function Optional<T>(read: Read<T>, options: FieldOptions<T> = {}): Field<T | undefined> {
  return field({ read, absent: () => undefined, ...options }, { required: false, ...documented(options) });
}

/** A member that may be absent and then has the value `fallback`. */
export function Default<T>(read: Read<T>, fallback: T, options: FieldOptions<T> = {}): Field<T> {
  const schema = { required: false, ...documented(options), ...(options.showDefault && { default: fallback }) };
  return field({ read, absent: () => fallback, ...options }, schema);
}

/** The member whose one word names the class among those of a `taggedUnion`. */
export function Tag<const T extends string>(word: T, options: FieldOptions<T> = {}): Field<T> {
  const absent = () => word;
  return field({ read: oneOf([word]), absent, tag: word }, { required: true, ...documented(options) });
}

/** A member that other classes of the union have, and this one refuses. It has no OpenAPI property. */
export function Refused(problem: string): Field<undefined> {
  const read: Read<undefined> = (_value, path) => {
    throw invalidRequest(path, problem);
  };
  return field({ read, absent: () => undefined });
}

/** A plain object with the declared members of a class and no others. */
export function objectOf<T extends object>(type: Type<T>): Read<T> {
  const read: Read<T> = (value, path, context) => {
    const { names } = membersOf(type);
    return readMembers(type, sentMembers(value, path, names), path, context);
  };
  return described({ $ref: getSchemaPath(type) }, read, [type]);
}

/** A plain object with the members of one of several classes, chosen by the word of their `Tag`. */
export function taggedUnion<const C extends readonly Type<object>[]>(types: C): Read<InstanceType<C[number]>> {
  const union = () => {
    const tags = types.flatMap((type) => membersOf(type).all.filter(({ tag }) => tag !== undefined));
    const words = tags.map(({ tag = '' }) => tag);
    return { tagName: tags[0]?.name ?? '', words, readTag: oneOf(words), names: allNames(types) };
  };
  let known: ReturnType<typeof union> | undefined;
  const read: Read<InstanceType<C[number]>> = (value, path, context) => {
    known ??= union();
    const { tagName, words, readTag, names } = known;
    const sent = sentMembers(value, path, names);
    const tagPath = memberPath(path, tagName);
    if (sent.get(tagName) === undefined) throw invalidRequest(tagPath, 'is required');
    const type = types[words.indexOf(readTag(sent.get(tagName), tagPath))] as C[number];
    return readMembers(type, sent, path, context) as InstanceType<C[number]>;
  };
  return described({ oneOf: types.map((type) => ({ $ref: getSchemaPath(type) })) }, read, types);
}

function allNames(types: readonly Type[]): ReadonlySet<string> {
  return new Set(types.flatMap((type) => [...membersOf(type).names]));
}

/**
 * The sent members by name.
 *
 * @throws invalid_request for a value that is not an object, and for a member that is not in `names`.
 */
export function sentMembers(value: unknown, path: string, names: ReadonlySet<string>): ReadonlyMap<string, unknown> {
  const sent = new Map(objectEntries(value, path));
  for (const name of sent.keys()) {
    if (!names.has(name)) throw invalidRequest(memberPath(path, name), 'is not a known field');
  }
  return sent;
}

function readMembers<T extends object>(
  type: Type<T>,
  sent: ReadonlyMap<string, unknown>,
  path: string,
  context?: ReadContext,
): T {
  const { all, reading } = membersOf(type);
  const values: Record<string, unknown> = {};
  for (const member of reading) {
    const at = memberPath(path, member.name);
    const raw = sent.get(member.name);
    const value = raw === undefined ? member.absent(at) : member.read(raw, at, context);
    member.check?.(value, values, at);
    values[member.name] = value;
  }
  const present = all.filter(({ name }) => values[name] !== undefined).map(({ name }) => [name, values[name]]);
  return Object.fromEntries(present) as T;
}

function membersOf(type: Type): Members {
  const known = membersOfType.get(type);
  if (known !== undefined) return known;
  const own: Member[] = [];
  for (let proto = type.prototype; proto !== null; proto = Object.getPrototypeOf(proto)) {
    own.unshift(...(declared.get(proto) ?? []));
  }
  const all = [...own.filter(({ tag }) => tag !== undefined), ...own.filter(({ tag }) => tag === undefined)];
  const reading = [...all.filter(({ late }) => !late), ...all.filter(({ late }) => late)];
  const members = { all, reading, names: new Set(all.map(({ name }) => name)) };
  membersOfType.set(type, members);
  return members;
}

function documented({ description }: { readonly description?: string }): object {
  return description === undefined ? {} : { description };
}

/** @param property the OpenAPI property in addition to the schema of the value; absent: none. */
function field<T>(member: Omit<Member, 'name'>, property?: object): Field<T> {
  return (target: object, name: string) => {
    declared.set(target, [...(declared.get(target) ?? []), { ...member, name }]);
    if (property === undefined) return;
    const { schema, models = [] } = member.read;
    const [model] = models;
    const value = schema?.$ref === undefined ? schema : { type: model };
    ApiProperty({ ...value, ...property } as ApiPropertyOptions)(target, name);
    ApiExtraModels(...models)(target.constructor);
  };
}
