import { GatewayError } from '../../common/errors/gateway-error.js';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { API_STYLES, type ApiStyle, classifyPath, type EndpointStyle } from '../api-style.rules.js';
import { parseProviderBaseUrl } from '../base-url.rules.js';
import type { DialectFacts } from '../dialect-table.js';
import { isSafeUpstreamPath } from '../upstream-path.rules.js';
import { credentialHeaderProblem, fixedHeadersProblem } from './definition-headers.rules.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';

/** Same form as a slug: the type name is the default slug of an instance. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
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
  if (!NAME.test(name)) return ['name', 'must be 1 to 63 lower-case letters, digits and dashes, no dash first'];
  if (RESERVED_NAMES.has(name)) return ['name', 'is reserved'];
  if (!isTextOf(label, MAX_LABEL_LENGTH)) return ['label', `must be text of 1 to ${MAX_LABEL_LENGTH} characters`];
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
    return parseProviderBaseUrl(definition.baseUrl, (host, port) =>
      trusted.allowsHost(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
    );
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
