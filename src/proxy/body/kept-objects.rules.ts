import { shownName } from '../../common/errors/display-text.rules.js';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import {
  type Content,
  ITEM_CONTENT,
  KEPT_ANYWHERE,
  KEPT_AT_ROOT,
  KEPT_BY_ID,
  KEPT_HOSTS,
  KEPT_MODELS,
  OWNED_ANYWHERE,
  OWNED_LISTS,
  REFERENCE_TYPES,
  STYLES_WITHOUT_ITEM_IDS,
  spellings,
  UNTYPED_ITEM,
  URIS,
} from '../../upstreams/kept-objects.js';
import type { PathMatch } from '../../upstreams/path-policy.rules.js';
import type { FormPart } from '../forms/multipart-form.js';
import { ITEM_IDS, REQUEST_NAMES } from '../json/checked-members.js';
import {
  type DeepMember,
  hasEntries,
  isFilled,
  isNamed,
  type MemberSpan,
  memberValue,
  nextSign,
  type ObjectSpan,
  type ScannedBody,
} from '../json/scanned-body.js';

const INPUT = 'input';
const RESPONSE = 'previous_response_id';
const CONVERSATION = 'conversation';
const ADDRESS_MAX_BYTES = 8 * 1024;
/** A longer string without a scheme is base64 content; a shorter one is a name. */
const NAME_MAX_BYTES = 256;
/** A character of an id may be written as `\\u0041`. */
const BYTES_OF_ESCAPE = 6;
const SCHEME = /^\s*[a-z][a-z0-9+.-]*:/i;
const HEAD_BYTES = 64;
/** More than any provider takes in one list. */
const MAX_LIST = 512;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const TRUE = 0x74;
const FALSE = 0x66;

const ROOT_ANY: ReadonlySet<string> = new Set(KEPT_AT_ROOT.any.flatMap(spellings));
const ROOT_OBJECT: ReadonlySet<string> = new Set(KEPT_AT_ROOT.object.flatMap(spellings));
/** Root members that only the owner of the object may use. */
const ROOT_OWNED: readonly OwnedMember[] = KEPT_AT_ROOT.owned.map(ownedMember);
const RESPONSE_MEMBER = ownedMember(RESPONSE);
const OWNED: ReadonlySet<string> = new Set([...OWNED_ANYWHERE, ...OWNED_LISTS].flatMap(spellings));
const OWNED_AS_LIST: ReadonlySet<string> = new Set(OWNED_LISTS.flatMap(spellings));
/** Members of every item, whatever its content. */
const OF_EVERY_ITEM: ReadonlySet<string> = new Set(['id', 'status']);
/** Possible content of an item of unknown type. */
const ANY_CONTENT: Content = {
  members: [...ITEM_CONTENT.values()].flatMap(({ members }) => members).filter((name) => !OF_EVERY_ITEM.has(name)),
  mayBeEmpty: false,
};
/** Names in form fields and queries, case-folded. */
const KEPT_NAMES: ReadonlySet<string> = new Set(
  [...ROOT_ANY, ...[...KEPT_AT_ROOT.owned, ...KEPT_ANYWHERE, ...OWNED_ANYWHERE, ...OWNED_LISTS].flatMap(spellings)].map(
    folded,
  ),
);

interface OwnedMember {
  readonly name: string;
  readonly spelled: readonly string[];
}

/** A member that names an object kept at the provider. */
export interface KeptReference {
  /** Of the member in the body. */
  readonly path: string;
  /** The provider's id. */
  readonly id: string;
}

function keptObject(path: string): GatewayError {
  return invalidRequest(path, 'objects stored at the provider cannot be used through the gateway', 'kept_object');
}

/** A prompt stored at the provider is an object; a string or array is the prompt itself. */
function refuseAtRoot({ bytes, root }: ScannedBody): void {
  for (const [name, member] of root.members) {
    if (ROOT_ANY.has(name) && isNamed(bytes, member)) throw keptObject(name);
    if (ROOT_OBJECT.has(name) && bytes[member.start] === OPEN_OBJECT) throw keptObject(name);
  }
}

/** Whether an address points outside the provider's own stores. @param mayBeContent base64 without a scheme. */
function isOutside(bytes: Buffer, { name, start, end }: DeepMember, mayBeContent: boolean): boolean {
  const length = end - start;
  const head = bytes.toString('latin1', start + 1, Math.min(end - 1, start + HEAD_BYTES));
  if (mayBeContent && length > NAME_MAX_BYTES && !head.includes('\\') && !SCHEME.test(head)) return true;
  if (length > ADDRESS_MAX_BYTES) throw invalidRequest(name, `longer than ${ADDRESS_MAX_BYTES} bytes`);
  const address: unknown = JSON.parse(bytes.toString('utf8', start, end));
  if (typeof address !== 'string' || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  if (protocol === 'data:') return true;
  return (protocol === 'https:' || protocol === 'http:') && !KEPT_HOSTS.some((host) => hostname.includes(host));
}

/** @returns the references where their owner may use them. */
function referencesAt(bytes: Buffer, member: DeepMember): KeptReference[] {
  const { name, kind, start, end } = member;
  if (kind === 'array' && !hasEntries(bytes, start)) return [];
  if (kind === 'string' && OWNED.has(name)) return [{ path: name, id: textAt(bytes, start, end, name) }];
  if (kind === 'array' && OWNED_AS_LIST.has(name)) return referencesInList(bytes, start, name);
  const isAddress = kind === 'string' && REQUEST_NAMES.isAddress(name);
  if (!isAddress || !isOutside(bytes, member, !URIS.has(name))) throw keptObject(name);
  return [];
}

/** @throws invalid_request an entry is not a string, or the list is longer than any provider takes. */
function referencesInList(bytes: Buffer, start: number, name: string): KeptReference[] {
  const references: KeptReference[] = [];
  for (let at = nextSign(bytes, start + 1); bytes[at] !== CLOSE_ARRAY; ) {
    if (references.length === MAX_LIST) throw invalidRequest(name, `has more than ${MAX_LIST} entries`);
    const path = `${name}.${references.length}`;
    if (bytes[at] !== QUOTE) throw keptObject(path);
    const end = endOfText(bytes, at);
    references.push({ path, id: textAt(bytes, at, end, path) });
    at = nextSign(bytes, end);
    if (bytes[at] === COMMA) at = nextSign(bytes, at + 1);
  }
  return references;
}

/** The offset after the string that starts at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function textAt(bytes: Buffer, start: number, end: number, path: string): string {
  if (end - start > NAME_MAX_BYTES * BYTES_OF_ESCAPE) throw invalidRequest(path, 'is longer than any id');
  const id: unknown = JSON.parse(bytes.toString('utf8', start, end));
  if (typeof id !== 'string' || id === '') throw invalidRequest(path, 'must be a non-empty string');
  return id;
}

/** The type of an object; undefined when absent, not a string, or too long. */
function typeOf(bytes: Buffer, type: MemberSpan | undefined): string | undefined {
  if (!isNamed(bytes, type) || bytes[type.start] !== QUOTE || type.end - type.start > NAME_MAX_BYTES) return undefined;
  return String(JSON.parse(bytes.toString('utf8', type.start, type.end)));
}

function contentOfItem(bytes: Buffer, { members }: ObjectSpan): Content | undefined {
  const type = members.get('type');
  if (!isNamed(bytes, type)) return isNamed(bytes, members.get('role')) ? UNTYPED_ITEM : undefined;
  const name = typeOf(bytes, type);
  if (name === undefined || REFERENCE_TYPES.has(name)) return undefined;
  return ITEM_CONTENT.get(name) ?? ANY_CONTENT;
}

/**
 * The ids of an object that does not carry the content that they refer to. @throws invalid_request nobody can own it.
 */
function referencesOf(bytes: Buffer, object: ObjectSpan): KeptReference[] {
  const { holder, index, members } = object;
  const held = KEPT_BY_ID.get(holder);
  const content = holder === INPUT ? contentOfItem(bytes, object) : held;
  const isCarried = content?.members.some((name) => {
    const member = members.get(name);
    return content.mayBeEmpty ? isNamed(bytes, member) : isFilled(bytes, member);
  });
  if (isCarried) return [];
  return ITEM_IDS.flatMap((name) => {
    const member = members.get(name);
    if (!isNamed(bytes, member)) return [];
    const path = index === -1 ? `${holder}.${name}` : `${holder}.${index}.${name}`;
    if (held?.isOwned === false) throw keptObject(path);
    return [{ path, id: textAt(bytes, member.start, member.end, path) }];
  });
}

/** The response that a request continues. @throws invalid_request the member has another form. */
export function responseReferences(body: ScannedBody): KeptReference[] {
  return rootReferences(body, RESPONSE_MEMBER);
}

function ownedMember(name: string): OwnedMember {
  return { name, spelled: spellings(name) };
}

/** The references of a root member: an id, or an object with one. */
function rootReferences({ bytes, root }: ScannedBody, owned: OwnedMember): KeptReference[] {
  const [name, ...others] = owned.spelled.filter((spelling) => isNamed(bytes, root.members.get(spelling)));
  if (name === undefined) return [];
  if (others.length > 0) throw invalidRequest(name, 'is given in two spellings');
  const member = root.members.get(name);
  const value = member && memberValue(bytes, member, name, NAME_MAX_BYTES * BYTES_OF_ESCAPE);
  const isObject = owned.name === CONVERSATION && typeof value === 'object' && value !== null;
  const id: unknown = isObject ? Reflect.get(value, 'id') : value;
  const path = isObject ? `${name}.id` : name;
  if (typeof id !== 'string' || id === '') throw invalidRequest(path, 'must be a non-empty string');
  return [{ path, id }];
}

/**
 * Finds the references to objects stored at the provider, by the table in `upstreams/kept-objects.ts`: other
 * applications that share the provider key may have created them. An item with its content is not a reference, whatever
 * its id.
 *
 * @param body as the client sent it, scanned with `REQUEST_NAMES`; members that the operator configures are exempt.
 * @param style of the request.
 * @returns the references that only the owner of the object may use: the caller must verify its ownership.
 * @throws invalid_request naming the member: nobody owns such an object.
 * Source: ADR 0028.
 */
export function keptReferences(body: ScannedBody, style: ApiStyle): readonly KeptReference[] {
  refuseAtRoot(body);
  const holdsItems = !STYLES_WITHOUT_ITEM_IDS.has(style);
  const named = holdsItems ? body.named : body.named.filter(({ holder }) => holder !== INPUT);
  return [
    ...ROOT_OWNED.flatMap((owned) => rootReferences(body, owned)),
    ...body.deep.flatMap((member) => referencesAt(body.bytes, member)),
    ...named.flatMap((object) => referencesOf(body.bytes, object)),
  ];
}

/**
 * Whether the provider keeps objects that the answer to this body names, so that they get an owner: an answer of the
 * Responses or Interactions API, or on a path without a style, unless it is not to be stored; a completion that is to
 * be stored or has modalities; a message with tools of the provider, a container or diagnostics of the cache.
 *
 * @param hostedTools tools that the provider runs.
 */
export function keepsObjects({ bytes, root }: ScannedBody, style: ApiStyle, hostedTools: readonly string[]): boolean {
  const has = (name: string) => isNamed(bytes, root.members.get(name));
  const store = root.members.get('store');
  const isStored = store !== undefined && bytes[store.start] === TRUE;
  switch (style) {
    case 'responses':
    case 'gemini_interactions':
    case 'other':
      return store === undefined || bytes[store.start] !== FALSE;
    case 'chat_completions':
      return isStored || has('modalities');
    case 'anthropic_messages':
      return hostedTools.length > 0 || has('container') || has('diagnostics');
    default:
      return false;
  }
}

/** Where a path names an object; the `path` of such a reference. */
export const IN_PATH = 'path';

/** The object that a path names. */
export function pathReferences({ object }: Pick<PathMatch, 'object'>): readonly KeptReference[] {
  return object === undefined ? [] : [{ path: IN_PATH, id: object }];
}

/** Applies the same rule to form field names, brackets and dots included. @throws invalid_request naming the field. */
export function validateKeptFields(parts: readonly Pick<FormPart, 'name'>[]): void {
  for (const { name } of parts) {
    if (name.split(/[[\].]/).some((part) => KEPT_NAMES.has(folded(part)))) throw keptObject(shownName(name));
  }
}

/** Applies the same rule to a query. @param rawQuery without question mark, percent-encoded. @throws invalid_request */
export function validateKeptParameters(rawQuery: string): void {
  if (rawQuery === '') return;
  validateKeptFields([...new URLSearchParams(rawQuery).keys()].map((name) => ({ name })));
}

/** Whether a model name refers to something stored at the provider. */
export function isKeptModel(model: string): boolean {
  return KEPT_MODELS.some((pattern) => pattern.test(model));
}

function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}
