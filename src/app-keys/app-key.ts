import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/** Whether a key still opens its application. */
export type AppKeyStatus = 'active' | 'revoked';

/** A key as callers are judged by it; it stands for one application. */
export interface AppKey {
  readonly id: string;
  readonly appId: string;
  readonly organizationId: string;
  readonly status: AppKeyStatus;
}

/** A stored key as people see it. */
export interface AppKeyRow {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly status: AppKeyStatus;
  readonly createdAt: Instant;
  /** At most an hour behind; null until the first use. */
  readonly lastUsedAt: Instant | null;
}

/** A new key, the only time its plaintext is at hand. */
export interface IssuedAppKey {
  readonly id: string;
  readonly name: string;
  readonly key: Secret;
  readonly keyPrefix: string;
  readonly createdAt: Instant;
}

/** The application a key is for. */
export interface KeyOwner {
  readonly id: string;
  readonly organizationId: string;
}
