import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/** A revoked key no longer authenticates. */
export type AppKeyStatus = 'active' | 'revoked';

/** A key for authentication; it belongs to one application. */
export interface AppKey {
  readonly id: string;
  readonly appId: string;
  readonly organizationId: string;
  readonly status: AppKeyStatus;
}

/** A stored key for display. */
export interface AppKeyRow {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly status: AppKeyStatus;
  readonly createdAt: Instant;
  /** At most one hour behind; null until the first use. */
  readonly lastUsedAt: Instant | null;
}

/** A new key; the only result that holds its plaintext. */
export interface IssuedAppKey {
  readonly id: string;
  readonly name: string;
  readonly key: Secret;
  readonly keyPrefix: string;
  readonly createdAt: Instant;
}

/** The application of a key. */
export interface KeyOwner {
  readonly id: string;
  readonly organizationId: string;
}
