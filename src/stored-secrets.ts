import type { EntityManager } from 'typeorm';
import type { SecretRows } from './platform/vault/resealing.js';
import { SEALED_SECRETS } from './retention/secret-resealing.service.js';

/** Every column of secrets that the vault has sealed. */
export function storedSecrets(connection: EntityManager): readonly SecretRows[] {
  return SEALED_SECRETS.flatMap(({ rowsIn }) => rowsIn(connection));
}
