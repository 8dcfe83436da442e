import { isIP } from 'node:net';
import { isStorableText } from '../../common/fields/config-values.js';
import { isDisplayName } from '../../common/fields/display-name.rules.js';
import { parseStrictJson } from '../../common/http/strict-json.rules.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isRedirectUri } from './redirect-uris.rules.js';

const MAX_CLIENT_ID = 1_024;
const MAX_NAME = 200;
const MAX_REDIRECT_URIS = 50;
const GRANT_TYPES = ['authorization_code', 'refresh_token'];
const RESPONSE_TYPES = ['code'];

/** A client as a person sees it. Its name is its own claim. */
export interface ShownClient {
  readonly id: string;
  readonly name: string;
  /** The host that serves its metadata document; null for a registered client. */
  readonly domain: string | null;
  readonly source: 'cimd' | 'registered';
}

/** A client and its redirect URIs. */
export interface OAuthClient extends ShownClient {
  readonly redirectUris: readonly string[];
}

/** Why a client or its document is refused, in a sentence for the person who runs it. */
export interface ClientProblem {
  readonly problem: string;
}

/**
 * The address of a client's metadata document, if the client id is one.
 *
 * Source: OAuth Client ID Metadata Document, 3.
 */
export function metadataUrlOf(clientId: string): URL | undefined {
  if (clientId.length > MAX_CLIENT_ID || !clientId.startsWith('https://')) return undefined;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId) return undefined;
  if (url.username !== '' || url.password !== '' || clientId.includes('#') || url.pathname === '/') return undefined;
  return isName(url.hostname) ? url : undefined;
}

/**
 * Reads a client's metadata document.
 *
 * @param url its address, which the document must repeat as `client_id`.
 * Source: OAuth Client ID Metadata Document, 4; RFC 7591 2.
 */
export function readMetadata(url: URL, body: Buffer): OAuthClient | ClientProblem {
  const document = objectIn(body);
  if (document === undefined) return { problem: 'is not a JSON object' };
  const { client_id, client_name, redirect_uris, client_secret } = document;
  if (client_id !== url.href) return { problem: 'names a client_id other than its own address' };
  if (client_secret !== undefined) return { problem: 'holds a client_secret; only public clients are supported' };
  const method = document.token_endpoint_auth_method;
  if (method !== undefined && method !== 'none') return { problem: 'must have token_endpoint_auth_method none' };
  if (!areWithin(document.grant_types, GRANT_TYPES))
    return { problem: `may have grant_types ${GRANT_TYPES.join(', ')}` };
  if (!areWithin(document.response_types, RESPONSE_TYPES)) return { problem: 'may have response_types code' };
  const named = readClient(client_id, client_name, redirect_uris);
  return 'problem' in named ? named : { ...named, domain: url.hostname, source: 'cimd' };
}

/**
 * Reads the list of registered clients.
 *
 * @returns the first problem, naming the entry.
 */
export function readRegistered(bytes: Buffer): readonly OAuthClient[] | ClientProblem {
  const entries = listIn(bytes);
  if (entries === undefined) return { problem: 'must be a JSON list of {client_id, client_name, redirect_uris}' };
  const clients = new Map<string, OAuthClient>();
  for (const [index, entry] of entries.entries()) {
    const { client_id, client_name, redirect_uris, ...others } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    const [stranger] = Object.keys(others);
    if (stranger !== undefined) return { problem: `[${index}].${stranger}: is not a known member` };
    if (typeof client_id !== 'string' || !/^[\x21-\x7e]+$/.test(client_id) || client_id.length > MAX_CLIENT_ID) {
      return { problem: `[${index}].client_id: must be visible ASCII of at most ${MAX_CLIENT_ID} characters` };
    }
    if (clients.has(client_id)) return { problem: `[${index}].client_id: is given twice` };
    const client = readClient(client_id, client_name, redirect_uris);
    if ('problem' in client) return { problem: `[${index}]: ${client.problem}` };
    clients.set(client_id, { ...client, domain: null, source: 'registered' });
  }
  return [...clients.values()];
}

function readClient(
  id: string,
  name: unknown,
  redirectUris: unknown,
): Pick<OAuthClient, 'id' | 'name' | 'redirectUris'> | ClientProblem {
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME || !isStorableText(name)) {
    return { problem: `must have a client_name of 1 to ${MAX_NAME} characters` };
  }
  if (!isDisplayName(name)) {
    return { problem: 'must have a client_name without control, direction and invisible characters' };
  }
  if (!Array.isArray(redirectUris) || redirectUris.length === 0 || redirectUris.length > MAX_REDIRECT_URIS) {
    return { problem: `must have 1 to ${MAX_REDIRECT_URIS} redirect_uris` };
  }
  const wrong = redirectUris.findIndex((uri) => typeof uri !== 'string' || !isRedirectUri(uri));
  if (wrong !== -1) {
    return {
      problem: `redirect_uris[${wrong}] must be https, http on loopback, or a private scheme with a dot and without a host`,
    };
  }
  return { id, name, redirectUris };
}

/** Whether a host is a name of the public DNS: no address in any spelling, no local name. */
function isName(hostname: string): boolean {
  const isAddress =
    isIP(hostname) !== 0 || hostname.startsWith('[') || /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i.test(hostname);
  const isLocal = !hostname.includes('.') || hostname.endsWith('.') || /(?:^|\.)localhost$/.test(hostname);
  return !isAddress && !isLocal;
}

function areWithin(list: unknown, known: readonly string[]): boolean {
  return list === undefined || (Array.isArray(list) && list.every((entry) => known.includes(entry)));
}

function objectIn(bytes: Buffer): JsonObject | undefined {
  const parsed = parsedJson(bytes);
  return isJsonObject(parsed) ? parsed : undefined;
}

function listIn(bytes: Buffer): readonly unknown[] | undefined {
  const parsed = parsedJson(bytes);
  const isList = Array.isArray(parsed) && parsed.every((entry) => typeof entry === 'object' && entry !== null);
  return isList ? parsed : undefined;
}

function parsedJson(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes);
  } catch {
    return undefined;
  }
}
