import { ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Optional, objectOf, Required, sentMembers } from '../../common/fields/config-fields.js';
import {
  described,
  integer,
  listOf,
  memberPath,
  number,
  oneOf,
  oneOrList,
  oneOrMore,
  type Read,
  type ReadContext,
  refined,
  requireFilledIn,
  text,
} from '../../common/fields/config-values.js';
import { isMetadataHost } from '../../platform/outbound/address.rules.js';
import { ENTITLEMENT_PRESETS, IDENTITY_PRESETS } from './identity-presets.rules.js';

const MAX_URL_LENGTH = 2048;
const MAX_CLAIM_LENGTH = 1000;
/** Deeper than the claims of any identity provider. */
const MAX_CLAIM_NAMES = 20;
const BOOKKEEPING = 'Console bookkeeping; ignored.';
export const PATH_OF_CLAIM =
  'Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`.';

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

/**
 * A header name of 1 to 64 characters, returned in lower case.
 *
 * @param refused names in lower case.
 */
export function headerName(refused: () => ReadonlySet<string>): Read<string> {
  const name = text({ max: 64, pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, problem: 'must be a header name' });
  return refined(name, (value, path) => {
    const lowerCase = value.toLowerCase();
    if (refused().has(lowerCase)) throw invalidRequest(path, `must not be ${lowerCase}, which is reserved`);
    return lowerCase;
  });
}

/** An absolute URL in visible ASCII. The backslash is excluded because URL parsers convert it to a slash. */
const address = text({ max: MAX_URL_LENGTH, pattern: /^[!-[\]-~]+$/, problem: 'must be an absolute https URL' });

/** @throws invalid_request for a placeholder; one that an older version has stored stays readable. */
function requireFilledInWhenSent(text: string, path: string, context: ReadContext | undefined): void {
  if (context?.isStored !== true) requireFilledIn(text, path);
}

/** `iss` and `aud` of identity tokens. */
const tokenParty: Read<string> = refined(text({ max: MAX_CLAIM_LENGTH }), (value, path, context) => {
  requireFilledInWhenSent(value, path, context);
  return value;
});

const keySetUrl: Read<string> = described(
  { type: 'string', format: 'uri', maxLength: MAX_URL_LENGTH },
  (value, path, context) => {
    const sent = address(value, path);
    requireFilledInWhenSent(sent, path, context);
    const url = URL.parse(sent);
    if (url === null || url.hostname === '') throw invalidRequest(path, 'must be an absolute https URL');
    if (isMetadataHost(url.hostname)) {
      throw invalidRequest(path, 'must not be a cloud metadata address');
    }
    const secure = url.protocol === 'https:' || (url.protocol === 'http:' && context?.allowsHttp(url.host));
    if (!secure) throw invalidRequest(path, 'must use https');
    if (url.username !== '' || url.password !== '') throw invalidRequest(path, 'must not hold credentials');
    if (url.href.includes('#')) throw invalidRequest(path, 'must not have a fragment');
    return address(url.href, path);
  },
);

/** The path of a claim: a dotted path, or a list of names, in which dots are literal. */
export type ClaimPath = string | readonly string[];

const claimText = text({ max: MAX_CLAIM_LENGTH });
/** One claim, or a path of nested claims. */
export const claimPath: Read<ClaimPath> = oneOrList(claimText, MAX_CLAIM_NAMES);

const claimScalar: Read<string | number | boolean> = described(
  { oneOf: [claimText.schema, { type: 'number' }, { type: 'boolean' }] },
  (value, path) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return claimText(value, path);
    if (typeof value === 'number') return number({})(value, path);
    throw invalidRequest(path, 'must be text, a number or a boolean');
  },
);

@ApiSchema({ name: 'AppRequiredClaimContains' })
class ContainsClaim {
  @Required(claimPath, { description: PATH_OF_CLAIM })
  readonly path: ClaimPath;

  @Required(oneOrList(claimText), { description: 'The claim must hold one of these.' })
  readonly contains: string | readonly string[];
}

@ApiSchema({ name: 'AppRequiredClaimEquals' })
class EqualsClaim {
  @Required(claimPath, { description: PATH_OF_CLAIM })
  readonly path: ClaimPath;

  @Required(claimScalar, { description: 'The claim must be exactly this.' })
  readonly equals: string | number | boolean;
}

/** One condition of the subscription check. */
export type RequiredClaim = ContainsClaim | EqualsClaim;

const requiredClaim: Read<RequiredClaim> = described(
  { oneOf: [{ $ref: getSchemaPath(ContainsClaim) }, { $ref: getSchemaPath(EqualsClaim) }] },
  (value, path) => {
    const sent = sentMembers(value, path, new Set(['path', 'contains', 'equals']));
    if (sent.get('path') !== undefined) claimPath(sent.get('path'), memberPath(path, 'path'));
    else throw invalidRequest(memberPath(path, 'path'), 'is required');
    if (sent.has('contains') === sent.has('equals')) {
      throw invalidRequest(path, 'must have exactly one of "contains" and "equals"');
    }
    return sent.has('equals') ? objectOf(EqualsClaim)(value, path) : objectOf(ContainsClaim)(value, path);
  },
  [ContainsClaim, EqualsClaim],
);

/**
 * How identity tokens of the application's users are verified.
 *
 * Source: docs/reference/management-api.md#issuer-configuration,
 * docs/reference/management-api.md#application-configuration.
 */
@ApiSchema({ name: 'AppIssuer' })
export class IssuerConfig {
  /** Canonical; https unless the operator trusts the host. */
  @Required(keySetUrl, { description: 'The public key set; https.' })
  readonly jwks_url: string;

  @Required(oneOrMore(tokenParty), { description: 'Accepted `iss` values.' })
  readonly issuer: readonly string[];

  @Required(oneOrMore(tokenParty), { description: 'Accepted `aud` values.' })
  readonly audience: readonly string[];

  @Required(claimPath, { description: `Claim that is the user id, usually \`sub\`. ${PATH_OF_CLAIM}` })
  readonly user_id_claim: ClaimPath;

  /** Lower case. */
  @Optional(headerName(() => CARRIER_HEADERS))
  readonly token_header?: string;

  @Required(listOf(requiredClaim), { description: 'The subscription check; may be empty.' })
  readonly required_claims: readonly RequiredClaim[];

  /** Maximum time between issue and expiry. */
  @Required(integer({ min: 1 }), { description: 'Maximum accepted lifetime of a token.' })
  readonly max_token_lifetime_seconds: number;

  @Optional(oneOf(IDENTITY_PRESETS.map(({ id }) => id)), { description: BOOKKEEPING })
  readonly provider?: string;

  @Optional(oneOf(ENTITLEMENT_PRESETS.map(({ id }) => id)), { description: BOOKKEEPING })
  readonly entitlement?: string;
}
