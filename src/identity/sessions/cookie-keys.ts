import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../../platform/secrets/signing-secrets.js';

const KEY_BYTES = 32;

/** What a signed cookie says; a signature for one purpose is worth nothing for another. */
export type CookiePurpose = 'session' | 'current organization' | 'third-party sign-in';

/** Keys of signed cookies, derived from the secrets of sign-in, which every instance shares. */
@Injectable()
export class CookieKeys {
  constructor(private readonly secrets: AuthSecrets) {}

  /** Signs new cookies. Source: docs/reference/management-api.md#sessions-and-cookies (HKDF-SHA256, RFC 5869). */
  signing(purpose: CookiePurpose): Uint8Array {
    return derived(this.secrets.current, purpose);
  }

  /** Any of these may have signed a cookie: the operator's secret may just have been replaced. */
  verifying(purpose: CookiePurpose): readonly Uint8Array[] {
    const { current, previous } = this.secrets;
    return previous === undefined
      ? [derived(current, purpose)]
      : [derived(current, purpose), derived(previous, purpose)];
  }
}

function derived(secret: Secret, purpose: CookiePurpose): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret.reveal(), '', `gateway cookie: ${purpose}`, KEY_BYTES));
}
