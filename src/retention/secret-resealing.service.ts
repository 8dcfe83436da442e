import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { playSecrets } from '../client-auth/devices/play/play-credentials.repository.js';
import { type ResealedSecrets, resealOldSecrets, type SecretRows } from '../platform/vault/resealing.js';
import { Vault } from '../platform/vault/vault.js';
import { gatewayTokens, providerKeys } from '../providers/stored-secrets.js';
import { webhookSecrets } from '../webhooks/stored-secrets.js';
import type { RetentionRun, RetentionStep } from './retention-step.js';

interface SealedSecrets extends Pick<RetentionStep, 'done' | 'failed'> {
  readonly rowsIn: (connection: EntityManager) => readonly SecretRows[];
}

/** Every column of secrets that the vault has sealed, with the log lines of its resealing. */
export const SEALED_SECRETS = [
  {
    done: 'provider_keys_resealed',
    failed: 'provider_keys_reseal_failed',
    rowsIn: (connection) => [providerKeys(connection)],
  },
  {
    done: 'gateway_tokens_resealed',
    failed: 'gateway_tokens_reseal_failed',
    rowsIn: (connection) => [gatewayTokens(connection)],
  },
  {
    done: 'play_credentials_resealed',
    failed: 'play_credentials_reseal_failed',
    rowsIn: (connection) => [playSecrets(connection)],
  },
  {
    done: 'webhook_secrets_resealed',
    failed: 'webhook_secrets_reseal_failed',
    rowsIn: webhookSecrets,
  },
] as const satisfies readonly SealedSecrets[];

/** Reseals the secrets of all accounts with the current vault key version. */
@Injectable()
export class SecretResealing {
  readonly steps: readonly RetentionStep[] = SEALED_SECRETS.map(({ done, failed, rowsIn }) => ({
    ...{ done, failed },
    run: (run: RetentionRun) => this.reseal(rowsIn(run.connection), run.signal),
  }));

  constructor(private readonly vault: Vault) {}

  private async reseal(columns: readonly SecretRows[], signal: AbortSignal): Promise<ResealedSecrets> {
    const total = { resealed: 0, unreadable: 0 };
    for (const rows of columns) {
      const { resealed, unreadable } = await resealOldSecrets(this.vault, rows, signal);
      total.resealed += resealed;
      total.unreadable += unreadable;
    }
    return total;
  }
}
