import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { type DeepMember, isNamed, memberValue, type ScannedBody } from '../json/json-members.js';
import { listHostedTools } from './hosted-tools.rules.js';

/** Members that detach the work from the request: its answer, with the usage, would be fetched later. */
const DETACHED = ['background', 'deferred'];
/** What `background` says of a picture that is made, on paths without a style of their own. */
const PICTURE_BACKGROUNDS: ReadonlySet<unknown> = new Set(['transparent', 'opaque', 'auto']);
/** Members that always point at objects kept at the provider. */
const STORED_OBJECTS = ['conversation', 'cachedContent', 'cached_content', 'batch', 'batch_id'];
const FILE_URIS = new Set(['fileUri', 'file_uri']);
const URI_MAX_BYTES = 8 * 1024;
const CONTAINER_MAX_BYTES = 16 * 1024;

/** Tiers at the price we know, or cheaper, by the names that providers give them. */
const NORMAL_TIERS = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex']);
/** Members that choose a price other than the one we know, with the text values that do not. */
const PRICE_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['service_tier', NORMAL_TIERS],
  ['serviceTier', NORMAL_TIERS],
  ['speed', new Set(['standard'])],
  ['inference_geo', new Set(['global'])],
]);

function storedObject(path: string): GatewayError {
  return invalidRequest(path, 'objects kept at the provider cannot be used through the gateway');
}

function refuseDetached({ bytes, root }: ScannedBody, style: ApiStyle): void {
  for (const name of DETACHED) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    if (value === true) throw invalidRequest(name, 'requests that run in the background are not supported');
    if (style === 'other' && name === 'background' && PICTURE_BACKGROUNDS.has(value)) continue;
    if (value !== false) throw invalidRequest(name, 'must be true or false');
  }
}

/** A prompt kept at the provider is an object; text and arrays are prompts of the request itself. */
function refuseStoredObjects({ bytes, root }: ScannedBody): void {
  for (const name of STORED_OBJECTS) {
    if (isNamed(bytes, root.members.get(name))) throw storedObject(name);
  }
  const prompt = root.members.get('prompt');
  if (prompt !== undefined && bytes[prompt.start] === 0x7b) throw storedObject('prompt');
}

/** A container is made for the request unless it is named by an id. */
function refuseContainerId({ bytes, root }: ScannedBody): void {
  const member = root.members.get('container');
  if (!isNamed(bytes, member)) return;
  const container = memberValue(bytes, member, 'container', CONTAINER_MAX_BYTES);
  if (typeof container === 'object' && container !== null && !Array.isArray(container)) {
    if (!('id' in container) || container.id === null) return;
  }
  throw storedObject('container');
}

function refuseDearerPrices({ bytes, root }: ScannedBody): void {
  for (const [name, allowed] of PRICE_MEMBERS) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    // Speech styles have a numeric `speed`, which changes no price.
    if (name === 'speed' && typeof value === 'number') continue;
    if (typeof value === 'string' && allowed.has(value)) continue;
    throw invalidRequest(name, `cannot be priced; allowed are ${[...allowed].join(', ')}`);
  }
}

/** Whether a file address leads elsewhere than to the provider's own file store. */
function isOutsideFile(uri: unknown): boolean {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  return (protocol === 'https:' || protocol === 'http:') && !hostname.includes('generativelanguage');
}

function refuseStoredFile(bytes: Buffer, member: DeepMember): void {
  if (!FILE_URIS.has(member.name)) throw storedObject(member.name);
  if (member.kind !== 'string') return;
  if (member.end - member.start > URI_MAX_BYTES)
    throw invalidRequest(member.name, `longer than ${URI_MAX_BYTES} bytes`);
  const uri: unknown = JSON.parse(bytes.toString('utf8', member.start, member.end));
  if (!isOutsideFile(uri)) throw storedObject(member.name);
}

/**
 * Refuses what a gateway cannot answer for: objects at the provider that somebody else behind the same provider key
 * made. `store` passes.
 *
 * @throws invalid_request
 * Source: decision 3.6, threats 3.7.
 */
export function judgeStoredObjects(body: ScannedBody): void {
  refuseStoredObjects(body);
  refuseContainerId(body);
  for (const member of body.deep) refuseStoredFile(body.bytes, member);
}

/**
 * Refuses what cannot be priced: work detached from the request, and tiers dearer than the price we know.
 *
 * @returns types of the tools the provider runs itself, which cost beside the tokens.
 * @throws invalid_request
 * Source: decision 3.6, threats 3.7.
 */
export function judgeCosts(body: ScannedBody, style: ApiStyle): readonly string[] {
  refuseDetached(body, style);
  refuseDearerPrices(body);
  return listHostedTools(body, style);
}

/**
 * The stored response a request continues, if it does: it may go out only for who created it.
 *
 * @throws invalid_request it is no text.
 * Source: decision 3.6.
 */
export function readOwnedResponse({ bytes, root }: ScannedBody): string | undefined {
  const member = root.members.get('previous_response_id');
  if (!isNamed(bytes, member)) return undefined;
  const id = memberValue(bytes, member, 'previous_response_id');
  if (typeof id !== 'string' || id === '') throw invalidRequest('previous_response_id', 'must be a non-empty string');
  return id;
}
