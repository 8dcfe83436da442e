import { invalidRequest } from '../../common/errors/gateway-error.js';
import {
  integer,
  listOf,
  number,
  oneOf,
  oneOrMore,
  openObject,
  type Read,
  text,
} from '../../common/fields/config-reader.js';
import { isMetadataHost } from '../../platform/outbound/metadata-host.rules.js';
import type { ClaimPath, IssuerConfig, RequiredClaim } from './app-config.js';
import { ENTITLEMENT_PRESETS, IDENTITY_PRESETS } from './identity-presets.rules.js';

const MAX_URL_LENGTH = 2048;
const MAX_CLAIM_LENGTH = 1000;
/** Deeper than the claims of any identity provider. */
const MAX_CLAIM_NAMES = 20;

/** Headers that frame or describe a request, so they cannot carry a user id or a token. */
export const CARRIER_HEADERS: ReadonlySet<string> = new Set([
  'x-app-version',
  'content-type',
  'content-length',
  'host',
  'connection',
  'cookie',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The key-set hosts that the operator trusts over http. */
export interface IssuerTrust {
  /** @param host as in `URL.host`: with a non-default port, an IPv6 address in brackets. */
  allowsHttp(host: string): boolean;
}

/** A header name of 1 to 64 characters, returned in lower case; none of `refused`, which is in lower case. */
export function headerName(refused: ReadonlySet<string>): Read<string> {
  const name = text({ max: 64, pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, problem: 'must be a header name' });
  return (value, path) => {
    const lowerCase = name(value, path).toLowerCase();
    if (refused.has(lowerCase)) throw invalidRequest(path, `must not be ${lowerCase}, which has a meaning of its own`);
    return lowerCase;
  };
}

/**
 * Reads `end_user.issuer`.
 *
 * Source: docs/reference/management-api.md#issuer-configuration,
 * docs/reference/management-api.md#application-configuration.
 */
export function issuerConfig(trust: IssuerTrust): Read<IssuerConfig> {
  return (value, path) => {
    const reader = openObject(value, path, [
      'jwks_url',
      'issuer',
      'audience',
      'user_id_claim',
      'token_header',
      'required_claims',
      'max_token_lifetime_seconds',
      'provider',
      'entitlement',
    ]);
    return {
      jwks_url: reader.required('jwks_url', keySetUrl(trust)),
      issuer: reader.required('issuer', oneOrMore(claimText)),
      audience: reader.required('audience', oneOrMore(claimText)),
      user_id_claim: reader.required('user_id_claim', claimPath),
      ...reader.optional('token_header', headerName(CARRIER_HEADERS)),
      required_claims: reader.required('required_claims', listOf(requiredClaim)),
      max_token_lifetime_seconds: reader.required('max_token_lifetime_seconds', integer({ min: 1 })),
      ...reader.optional('provider', oneOf(IDENTITY_PRESETS.map(({ id }) => id))),
      ...reader.optional('entitlement', oneOf(ENTITLEMENT_PRESETS.map(({ id }) => id))),
    };
  };
}

const claimText = text({ max: MAX_CLAIM_LENGTH });
const claimTexts = listOf(claimText, { min: 1 });

const claimNames = listOf(claimText, { min: 1, max: MAX_CLAIM_NAMES });

const claimPath: Read<ClaimPath> = (value, path) =>
  Array.isArray(value) ? claimNames(value, path) : claimText(value, path);

const requiredClaim: Read<RequiredClaim> = (value, path) => {
  const reader = openObject(value, path, ['path', 'contains', 'equals']);
  const claim = reader.required('path', claimPath);
  if ((reader.raw('contains') === undefined) === (reader.raw('equals') === undefined)) {
    throw invalidRequest(path, 'must have exactly one of "contains" and "equals"');
  }
  if (reader.raw('equals') !== undefined) return { path: claim, equals: reader.required('equals', claimScalar) };
  return { path: claim, contains: reader.required('contains', oneOrListed) };
};

const oneOrListed: Read<string | readonly string[]> = (value, path) =>
  Array.isArray(value) ? claimTexts(value, path) : claimText(value, path);

const claimScalar: Read<string | number | boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return claimText(value, path);
  if (typeof value === 'number') return number({})(value, path);
  throw invalidRequest(path, 'must be text, a number or a boolean');
};

/** An absolute URL in visible ASCII. The backslash is excluded because URL parsers convert it to a slash. */
const address = text({ max: MAX_URL_LENGTH, pattern: /^[!-[\]-~]+$/, problem: 'must be an absolute https URL' });

function keySetUrl(trust: IssuerTrust): Read<string> {
  return (value, path) => {
    const url = URL.parse(address(value, path));
    if (url === null || url.hostname === '') throw invalidRequest(path, 'must be an absolute https URL');
    if (isMetadataHost(url.hostname)) {
      throw invalidRequest(path, 'must not be a cloud metadata address; no call goes there');
    }
    const secure = url.protocol === 'https:' || (url.protocol === 'http:' && trust.allowsHttp(url.host));
    if (!secure) throw invalidRequest(path, 'must use https');
    if (url.username !== '' || url.password !== '') throw invalidRequest(path, 'must not hold credentials');
    if (url.href.includes('#')) throw invalidRequest(path, 'must not have a fragment');
    return address(url.href, path);
  };
}
