import type { EntityManager } from 'typeorm';
import type { SecretRows, StoredSecret } from '../platform/vault/resealing.js';
import { secretRows } from '../platform/vault/secret-rows.js';
import { webhookSecretContext } from './webhook.rules.js';

/** The sealed secrets of webhooks, and their previous ones. */
export function webhookSecrets(connection: EntityManager): readonly SecretRows[] {
  const contextOf = ({ organizationId, id }: Omit<StoredSecret, 'context'>) => webhookSecretContext(organizationId, id);
  return ['secret_blob', 'previous_secret_blob'].map((column) =>
    secretRows(connection, { table: 'webhooks', column, contextOf }),
  );
}
