import type { Instant } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { Grant } from '../admin-principal.js';
import type { ManagementKeySource } from '../management-keys.repository.js';

/**
 * A management key as its account sees it, without the plaintext.
 *
 * Source: docs/reference/management-api.md#management-keys.
 */
export interface ManagementKey {
  readonly id: string;
  readonly organizationId: string;
  /** The owner; the key carries the owner's role. */
  readonly userId: string;
  readonly name: string;
  /** The last four characters. */
  readonly tokenHint: string;
  readonly grant: Grant;
  readonly source: ManagementKeySource;
  readonly label: string | null;
  /** Whether the key is neither revoked nor expired and its owner is a member. */
  readonly enabled: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** A new key; the only result that holds its plaintext. */
export interface CreatedManagementKey {
  readonly key: ManagementKey;
  readonly plaintext: Secret;
}
