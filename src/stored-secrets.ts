import type { EntityManager } from 'typeorm';
import { playSecrets } from './client-auth/devices/play/play-credentials.repository.js';
import type { SecretRows } from './platform/vault/resealing.js';
import { gatewayTokens, providerKeys } from './providers/stored-secrets.js';
import { webhookSecrets } from './webhooks/stored-secrets.js';

/** Every column of secrets that the vault has sealed. */
export function storedSecrets(connection: EntityManager): readonly SecretRows[] {
  return [providerKeys(connection), gatewayTokens(connection), playSecrets(connection), ...webhookSecrets(connection)];
}
