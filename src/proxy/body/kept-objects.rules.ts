import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { shownName } from '../../common/errors/shown-text.rules.js';
import {
  type Content,
  ITEM_CONTENT,
  KEPT_ANYWHERE,
  KEPT_AT_ROOT,
  KEPT_BY_ID,
  KEPT_HOSTS,
  KEPT_MODELS,
  REFERENCE_TYPES,
  spellings,
  UNTYPED_ITEM,
  URIS,
} from '../../upstreams/kept-objects.js';
import type { FormPart } from '../forms/multipart-form.js';
import { ITEM_IDS, REQUEST_NAMES } from '../json/checked-members.js';
import {
  type DeepMember,
  hasEntries,
  isFilled,
  isNamed,
  type MemberSpan,
  memberValue,
  type ObjectSpan,
  type ScannedBody,
} from '../json/scanned-body.js';

const INPUT = 'input';
const ADDRESS_MAX_BYTES = 8 * 1024;
/** A longer string without a scheme is base64 content; a shorter one is a name. */
const NAME_MAX_BYTES = 256;
const SCHEME = /^\s*[a-z][a-z0-9+.-]*:/i;
const HEAD_BYTES = 64;
const OPEN_OBJECT = 0x7b;

const ROOT_ANY: ReadonlySet<string> = new Set(KEPT_AT_ROOT.any.flatMap(spellings));
const ROOT_OBJECT: ReadonlySet<string> = new Set(KEPT_AT_ROOT.object.flatMap(spellings));
const ROOT_RESPONSE = KEPT_AT_ROOT.response.flatMap(spellings);
/** Members of every item, whatever its content. */
const OF_EVERY_ITEM: ReadonlySet<string> = new Set(['id', 'status']);
/** Possible content of an item of unknown type. */
const ANY_CONTENT: Content = {
  members: [...ITEM_CONTENT.values()].flatMap(({ members }) => members).filter((name) => !OF_EVERY_ITEM.has(name)),
  mayBeEmpty: false,
};
/** Names in form fields and queries, case-folded. */
const KEPT_NAMES: ReadonlySet<string> = new Set(
  [...ROOT_ANY, ...ROOT_RESPONSE, ...KEPT_ANYWHERE.flatMap(spellings)].map(folded),
);

function keptObject(path: string): GatewayError {
  return invalidRequest(path, 'objects kept at the provider cannot be used through the gateway', 'kept_object');
}

function reference(path: string): GatewayError {
  const problem = 'names an object kept at the provider; send its content, or continue by previous_response_id';
  return invalidRequest(path, problem, 'kept_object');
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

function refuseDeep(bytes: Buffer, member: DeepMember): void {
  const { name, kind, start } = member;
  if (kind === 'array' && !hasEntries(bytes, start)) return;
  const isAddress = kind === 'string' && REQUEST_NAMES.isAddress(name);
  if (!isAddress || !isOutside(bytes, member, !URIS.has(name))) throw keptObject(name);
}

/** The type of an object; undefined when absent, not a string, or too long. */
function typeOf(bytes: Buffer, type: MemberSpan | undefined): string | undefined {
  if (!isNamed(bytes, type) || bytes[type.start] !== 0x22 || type.end - type.start > NAME_MAX_BYTES) return undefined;
  return String(JSON.parse(bytes.toString('utf8', type.start, type.end)));
}

function contentOfItem(bytes: Buffer, { members }: ObjectSpan): Content | undefined {
  const type = members.get('type');
  if (!isNamed(bytes, type)) return isNamed(bytes, members.get('role')) ? UNTYPED_ITEM : undefined;
  const name = typeOf(bytes, type);
  if (name === undefined || REFERENCE_TYPES.has(name)) return undefined;
  return ITEM_CONTENT.get(name) ?? ANY_CONTENT;
}

/** Refuses an object with an id unless it carries the content that the id refers to. */
function refuseReference(bytes: Buffer, object: ObjectSpan): void {
  const { holder, index, members } = object;
  const id = ITEM_IDS.find((name) => isNamed(bytes, members.get(name)));
  if (id === undefined) return;
  const content = holder === INPUT ? contentOfItem(bytes, object) : KEPT_BY_ID.get(holder);
  const isCarried = content?.members.some((name) => {
    const member = members.get(name);
    return content.mayBeEmpty ? isNamed(bytes, member) : isFilled(bytes, member);
  });
  if (!isCarried) throw reference(index === -1 ? `${holder}.${id}` : `${holder}.${index}.${id}`);
}

/**
 * Refuses a body that references objects stored at the provider, by the table in `upstreams/kept-objects.ts`: other
 * applications that share the provider key may have created them. An item with its content is allowed whatever its id.
 * {@link readOwnedResponse} covers response ids.
 *
 * @param body as the client sent it, scanned with `REQUEST_NAMES`; members that the operator configures are exempt.
 * @throws invalid_request naming the member.
 * Source: ADR 0028.
 */
export function validateKeptObjects(body: ScannedBody): void {
  refuseAtRoot(body);
  for (const member of body.deep) refuseDeep(body.bytes, member);
  for (const object of body.named) refuseReference(body.bytes, object);
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

/**
 * Returns the id of the stored response that a request continues, if any. The caller must verify its ownership.
 *
 * @throws invalid_request it is not a non-empty string, or is given in two spellings.
 */
export function readOwnedResponse({ bytes, root }: ScannedBody): string | undefined {
  const named = ROOT_RESPONSE.filter((name) => isNamed(bytes, root.members.get(name)));
  const [name] = named;
  if (name === undefined) return undefined;
  if (named.length > 1) throw invalidRequest(name, 'stands there in two spellings');
  const member = root.members.get(name);
  const id = member && memberValue(bytes, member, name);
  if (typeof id !== 'string' || id === '') throw invalidRequest(name, 'must be a non-empty string');
  return id;
}

function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}
