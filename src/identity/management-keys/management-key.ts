import type { Instant } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { Grant } from '../admin-principal.js';
import type { ManagementKeySource } from '../management-keys.repository.js';

/**
 * A management key of an account, as its people see it; never the key itself.
 *
 * Source: docs/reference/management-api.md#management-keys.
 */
export interface ManagementKey {
  readonly id: string;
  readonly organizationId: string;
  /** Whose role it carries. */
  readonly userId: string;
  readonly name: string;
  /** The key's last four characters. */
  readonly tokenHint: string;
  readonly grant: Grant;
  readonly source: ManagementKeySource;
  readonly label: string | null;
  /** Whether it opens anything at the moment. */
  readonly enabled: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** A key that was just made: the one time its plaintext is there. */
export interface CreatedManagementKey {
  readonly key: ManagementKey;
  readonly plaintext: Secret;
}
