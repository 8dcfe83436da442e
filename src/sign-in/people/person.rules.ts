import { comparableEmail, isEmailAddress } from '../../accounts/access/email-address.js';
import { isStorableText } from '../../common/fields/config-values.js';
import { toDisplayName } from '../../common/fields/display-name.rules.js';

/** Source: docs/reference/management-api.md#passwords-and-third-parties. */
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 128;
/** In characters. */
export const MAX_NAME = 100;
export const MAX_IMAGE_ADDRESS = 2_048;
export const IMAGE_ADDRESS = /^https:\/\/[^\s\p{C}]+$/u;
/** In characters; longer values are refused. */
export const MAX_INVITATION_TOKEN = 200;
/** Source: OpenID Connect Core 2. */
const MAX_SUBJECT = 255;

/** Claims of an identity token. Only the issuer is verified; all other values are untrusted. */
export interface IdentityClaims {
  readonly iss: string;
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** An OpenID subject; unique within its issuer only. Source: OpenID Connect Core 5.7. */
export interface OpenIdSubject {
  /** As the tokens spell it. */
  readonly issuer: string;
  readonly subject: string;
}

/** A person as a third party describes them. */
export interface ThirdPartyPerson extends OpenIdSubject {
  /** In the form of `comparableEmail`. */
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly image: string | null;
}

/** @returns `undefined` without a usable subject or e-mail address. */
export function thirdPartyPersonOf(claims: IdentityClaims): ThirdPartyPerson | undefined {
  const { iss, sub, email: given } = claims;
  const email = typeof given === 'string' ? comparableEmail(given) : '';
  if (sub === '' || sub.length > MAX_SUBJECT || !isStorableText(sub)) return undefined;
  if (!isEmailAddress(email) || !isStorableText(email)) return undefined;
  return {
    issuer: iss,
    subject: sub,
    email,
    emailVerified: claims.email_verified === true,
    name: nameOf(claims.name) ?? email.slice(0, MAX_NAME).toWellFormed(),
    image: imageOf(claims.picture),
  };
}

function nameOf(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const plain = toDisplayName(name.slice(0, MAX_NAME).toWellFormed());
  return plain === '' ? undefined : plain;
}

function imageOf(picture: unknown): string | null {
  if (typeof picture !== 'string' || picture.length > MAX_IMAGE_ADDRESS) return null;
  return IMAGE_ADDRESS.test(picture) ? picture : null;
}
