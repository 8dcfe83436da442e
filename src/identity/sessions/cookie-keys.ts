import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../../platform/secrets/signing-secrets.js';

const KEY_BYTES = 32;

/** Purpose of a signed cookie. A signature for one purpose is invalid for every other. */
export type CookiePurpose = 'session' | 'current organization' | 'third-party sign-in';

/** Keys of signed cookies, derived from the sign-in secrets that every instance shares. */
@Injectable()
export class CookieKeys {
  constructor(private readonly secrets: AuthSecrets) {}

  /**
   * The key that signs new cookies.
   *
   * Source: docs/reference/management-api.md#sessions-and-cookies (HKDF-SHA256, RFC 5869).
   */
  signing(purpose: CookiePurpose): Uint8Array {
    return derived(this.secrets.current, purpose);
  }

  /** Keys that may have signed a cookie: the current secret and, during a rotation, the previous one. */
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
