import { GatewayError } from '../../common/errors/gateway-error.js';
import { isDisplayName, MISLEADING_NAME } from '../../common/fields/display-name.rules.js';
import { DEFAULT_USER_HEADER } from '../../common/http/gateway-request.js';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { hostAndPort } from '../../platform/outbound/url-host.rules.js';
import { API_STYLES, type ApiStyle, classifyPath, type EndpointStyle } from '../api-style.rules.js';
import { parseProviderBaseUrl } from '../base-url.rules.js';
import type { DialectFacts, HeaderPair } from '../dialect-table.js';
import { isSafeUpstreamPath } from '../path-policy.rules.js';
import { PROVIDER_SLUG } from '../provider-types.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';

/** Names of inherited object properties. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(['constructor', 'prototype']);
const MAX_LABEL_LENGTH = 100;
const MAX_AUTHOR_LENGTH = 64;
const PLACEHOLDER = '{model}';

const API_STYLE_OF: Readonly<Record<EndpointStyle, ApiStyle>> = {
  responses: 'responses',
  transcription: 'audio_transcription',
};

/** The invalid member of a definition and the problem. */
type Problem = readonly [member: keyof ProviderTypeDefinition, problem: string];

/**
 * Validates a definition and returns its facts. The operator's own developers write definitions, so validation targets
 * mistakes, not attacks. It also reports what the outbound guard or the proxy would reject later.
 *
 * @throws Error naming type, member and rule.
 */
export function factsOfDefinition(definition: ProviderTypeDefinition, trusted: TrustedHosts): DialectFacts {
  const problem = problemOf(definition);
  if (problem !== undefined) throw badDefinition(definition, ...problem);
  const { name: _name, ...facts } = definition;
  return { ...facts, baseUrl: canonicalBaseUrl(definition, trusted) };
}

/** The error for an invalid definition. */
export function badDefinition(
  { name }: ProviderTypeDefinition,
  member: keyof ProviderTypeDefinition,
  problem: string,
): Error {
  return new Error(`Provider type ${JSON.stringify(name)}: ${member} ${problem}`);
}

function problemOf(definition: ProviderTypeDefinition): Problem | undefined {
  const { credentialHeader = 'authorization', extraHeaders = [], probeHeaders = [] } = definition;
  const ofHeader = credentialHeaderProblem(credentialHeader);
  if (ofHeader !== undefined) return ['credentialHeader', ofHeader];
  const ofExtras = fixedHeadersProblem(extraHeaders, credentialHeader);
  if (ofExtras !== undefined) return ['extraHeaders', ofExtras];
  const ofProbe = fixedHeadersProblem(probeHeaders, credentialHeader);
  if (ofProbe !== undefined) return ['probeHeaders', ofProbe];
  return problemOfWords(definition) ?? problemOfStyles(definition) ?? problemOfPaths(definition);
}

function problemOfWords({ name, label, author }: ProviderTypeDefinition): Problem | undefined {
  if (!PROVIDER_SLUG.test(name))
    return ['name', 'must be 1 to 63 lower-case letters, digits and dashes, no dash first'];
  if (RESERVED_NAMES.has(name)) return ['name', 'is reserved'];
  if (!isTextOf(label, MAX_LABEL_LENGTH)) return ['label', `must be text of 1 to ${MAX_LABEL_LENGTH} characters`];
  if (!isDisplayName(label)) return ['label', MISLEADING_NAME];
  if (author !== undefined && !isTextOf(author, MAX_AUTHOR_LENGTH)) {
    return ['author', `must be text of 1 to ${MAX_AUTHOR_LENGTH} characters`];
  }
  return undefined;
}

function problemOfStyles({ apiStyles, endpointPaths = [] }: ProviderTypeDefinition): Problem | undefined {
  if (apiStyles.length === 0) return ['apiStyles', 'must name a style'];
  const unknown = apiStyles.find((style) => !API_STYLES.includes(style));
  if (unknown !== undefined) return ['apiStyles', `must be of ${API_STYLES.join(', ')}`];
  const styles = endpointPaths.map(([style]) => style);
  if (new Set(styles).size < styles.length) return ['endpointPaths', 'must not name a style twice'];
  for (const [style, path] of endpointPaths) {
    // Style detection reads the path alone: another style would get its ceiling, usage and price.
    if (classifyPath(path) !== API_STYLE_OF[style]) return ['endpointPaths', `must give ${style} a path of that style`];
    if (!apiStyles.includes(API_STYLE_OF[style])) {
      return ['endpointPaths', `must be of the apiStyles; ${API_STYLE_OF[style]} is not`];
    }
  }
  return undefined;
}

function problemOfPaths({ probePath, extraPaths = [] }: ProviderTypeDefinition): Problem | undefined {
  if (probePath !== undefined && !isSafeUpstreamPath(probePath)) return ['probePath', 'must be a plain path'];
  for (const path of extraPaths) {
    if (!isSafeUpstreamPath(path)) return ['extraPaths', 'must be plain paths'];
    if (path.split(PLACEHOLDER).length > 2) return ['extraPaths', `may have ${PLACEHOLDER} only once in a path`];
  }
  return undefined;
}

function isTextOf(text: string, maxLength: number): boolean {
  return text.trim() !== '' && text.length <= maxLength;
}

/** Applies the base URL rules of an instance: https and public, unless the operator trusts the host. */
function canonicalBaseUrl(definition: ProviderTypeDefinition, trusted: TrustedHosts): string {
  try {
    return parseProviderBaseUrl(definition.baseUrl, (host, port) => trusted.allowsHost(hostAndPort(host, port)));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const problem = error.message.replace(/^baseUrl: /, '');
    throw badDefinition(
      definition,
      'baseUrl',
      `${problem}; TRUSTED_PRIVATE_HOSTS says which private hosts may be called`,
    );
  }
}

const HEADER_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
/** Printable ASCII; blanks inside only. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/** Headers that frame a message, and headers that carry client values: the gateway sets them per call. */
const NOT_FOR_DEFINITIONS: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'cookie', 'expect', 'host', 'keep-alive'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['accept', 'accept-encoding', 'accept-language', 'idempotency-key', 'user-agent', 'traceparent', 'tracestate'],
]);

/** Headers that clients send to the gateway: a provider key in one of them would be misread. */
const OURS: ReadonlySet<string> = new Set([
  DEFAULT_USER_HEADER,
  ...['x-app-version', 'x-client', 'x-console-request', 'x-idempotency-proof', 'x-request-id'],
]);

/** Returns why a header cannot carry the key of a type, if it cannot. */
function credentialHeaderProblem(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'must be a header name of 1 to 64 lower-case letters, digits and dashes';
  const isTaken = NOT_FOR_DEFINITIONS.has(name) || OURS.has(name) || name.startsWith('x-forwarded-');
  return isTaken ? `must not be ${name}, which has a meaning of its own` : undefined;
}

/** Returns the first problem of fixed headers, if any. @param credentialHeader which they must not set. */
function fixedHeadersProblem(headers: readonly HeaderPair[], credentialHeader: string): string | undefined {
  const names = headers.map(([name]) => name);
  if (new Set(names).size < names.length) return 'must not name a header twice';
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name)) return 'must have names of 1 to 64 lower-case letters, digits and dashes';
    if (name === credentialHeader) return `must not set ${name}, which carries the key`;
    if (NOT_FOR_DEFINITIONS.has(name)) return `must not set ${name}, which the gateway sets`;
    if (!HEADER_VALUE.test(value)) return `must give ${name} a value of 1 to 256 printable ASCII characters`;
  }
  return undefined;
}
