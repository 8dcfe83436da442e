import { createHmac } from 'node:crypto';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { listOf, memberPath, text } from '../common/fields/config-values.js';
import type { Secret } from '../common/log/secret.js';
import { isMetadataHost } from '../platform/outbound/address.rules.js';
import type { OwnAddresses } from '../platform/outbound/own-addresses.js';
import type { TrustedHosts } from '../platform/outbound/trusted-hosts.rules.js';
import { bareHost, dialledPort, hostAndPort, privateHostProblem } from '../platform/outbound/url-host.rules.js';
import type { VaultContext } from '../platform/vault/sealed-blob.rules.js';
import { EVENT_TYPES } from './event-types.js';

/** Maximum number of webhooks of one account. Source: docs/reference/webhooks.md. */
export const MAX_WEBHOOKS = 20;
const MAX_FILTERS = 50;
const MAX_URL_LENGTH = 2_000;
const NOT_PRINTABLE_ASCII = /[^\x21-\x7e]/;

export const SECRET_PREFIX = 'whsec_';
/** Within the 24 to 64 bytes of Standard Webhooks. */
export const SECRET_BYTES = 32;
/** A replaced secret also signs for a day. */
export const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1_000;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Waiting times after failed attempts: three days in all. Source: https://www.standardwebhooks.com. */
const RETRY_AFTER_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];
/** A retry is delayed by up to a tenth more, so that receivers do not get all retries at once. */
const JITTER = 0.1;

/** Of a `bigint`; longer ones did not come from the database. */
const DELIVERY_ID = /^\d{1,18}$/;

/** The endpoint no longer exists and wants no further event. */
const GONE = 410;

/** The result of one attempt; a null status: there was no answer. */
export interface DeliveryAttempt {
  readonly status: number | null;
  readonly durationMs: number;
}

/** What follows an attempt. */
export type DeliveryOutcome =
  | { readonly status: 'delivered' | 'failed' | 'disabled' }
  | { readonly status: 'pending'; readonly inMs: number };

/**
 * The headers of a delivery by the convention of Standard Webhooks.
 *
 * @param id the same at each attempt.
 * @param timestampSeconds Unix time of the attempt.
 * @param secrets with their prefix; each signs.
 */
export function signedHeaders(
  { id, body, timestampSeconds }: { readonly id: string; readonly body: string; readonly timestampSeconds: number },
  secrets: readonly Secret[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** Whether a text has the format of the id of a delivery. */
export function isDeliveryId(text: string): boolean {
  return DELIVERY_ID.test(text);
}

/** Whether an endpoint accepted an event. */
export function isDelivered({ status }: DeliveryAttempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

/**
 * @param attempts those before this one.
 * @param random from 0 to 1.
 */
export function outcomeOf(attempt: DeliveryAttempt, attempts: number, random: number): DeliveryOutcome {
  if (isDelivered(attempt)) return { status: 'delivered' };
  if (attempt.status === GONE) return { status: 'disabled' };
  const waitMs = RETRY_AFTER_MS[attempts];
  return waitMs === undefined
    ? { status: 'failed' }
    : { status: 'pending', inMs: Math.round(waitMs * (1 + JITTER * random)) };
}

/**
 * Parses the address of an endpoint: https on a public host, or a host of `TRUSTED_PRIVATE_HOSTS`. Checks the text
 * only; the resolved address is checked when the connection is dialled.
 *
 * @returns the normalised URL.
 * @throws invalid_request at `url`. Source: docs/reference/security.md#outbound-addresses.
 */
export function parseWebhookUrl(
  raw: string,
  { trusted, own }: { readonly trusted: TrustedHosts; readonly own: OwnAddresses },
): string {
  if (raw.length > MAX_URL_LENGTH) refuse(`must be at most ${MAX_URL_LENGTH} characters long`);
  if (NOT_PRINTABLE_ASCII.test(raw) || raw.includes('\\')) refuse('must be printable ASCII without spaces or "\\"');
  const url = URL.parse(raw);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) refuse('must be an https URL');
  if (url.username !== '' || url.password !== '')
    refuse('must not contain credentials; the signature proves the sender');
  if (raw.includes('#')) refuse('must not contain a fragment');
  if (isMetadataHost(url.hostname)) refuse('must not be a cloud metadata address');
  if (own.isNamedIn(url)) refuse('must not be an address of this gateway');
  const host = bareHost(url.hostname);
  if (trusted.allowsHost(hostAndPort(host, dialledPort(url)))) return url.href;
  if (url.protocol !== 'https:') refuse('must use https');
  const problem = privateHostProblem(host);
  if (problem !== undefined) refuse(problem);
  return url.href;
}

function refuse(problem: string): never {
  throw invalidRequest('url', problem);
}

const TYPES = Object.keys(EVENT_TYPES);

/** A list of names; null stands for all. */
const readFilter = listOf(text({ max: 300 }), { min: 1, max: MAX_FILTERS });

/** The OpenAPI schema of a filter. */
export const FILTER_SCHEMA = { type: 'array', minItems: 1, maxItems: MAX_FILTERS, items: { type: 'string' } } as const;

/**
 * The events that a webhook subscribes to; null: all.
 *
 * @throws invalid_request at `events` or one of its entries.
 */
export function parseEventFilter(sent: unknown): readonly string[] | null {
  const filter = parseFilter('events', sent);
  for (const [index, entry] of filter?.entries() ?? []) {
    if (isKnown(entry)) continue;
    const prefixes = [...new Set(TYPES.map(prefixOf))].join(', ');
    throw invalidRequest(
      memberPath('events', String(index)),
      `must be a type such as app_key.created, or one of ${prefixes}`,
    );
  }
  return filter;
}

/** @throws invalid_request at `apps` or one of its entries. */
export function parseAppFilter(sent: unknown): readonly string[] | null {
  return parseFilter('apps', sent);
}

function parseFilter(path: string, sent: unknown): readonly string[] | null {
  return sent === undefined || sent === null ? null : [...new Set(readFilter(sent, path))];
}

function isKnown(entry: string): boolean {
  return TYPES.some((type) => type === entry || prefixOf(type) === entry);
}

function prefixOf(type: string): string {
  return `${type.slice(0, type.indexOf('.'))}.*`;
}

/** Binds a sealed secret to its account and webhook. */
export function webhookSecretContext(organizationId: string, webhookId: string): VaultContext {
  return { account: organizationId, webhook: webhookId };
}
