import { Injectable } from '@nestjs/common';
import { playSecrets } from '../client-auth/devices/play/play-credentials.repository.js';
import { resealOldSecrets } from '../platform/vault/resealing.js';
import { Vault } from '../platform/vault/vault.js';
import { gatewayTokens, providerKeys } from '../providers/stored-secrets.js';
import { webhookSecrets } from '../webhooks/stored-secrets.js';
import type { RetentionStep } from './retention-step.js';

/** Reseals the provider keys, gateway tokens, credentials of Play Integrity and webhook secrets of all accounts with the current vault key version. */
@Injectable()
export class SecretResealing {
  readonly steps: readonly RetentionStep[] = [
    {
      done: 'provider_keys_resealed',
      failed: 'provider_keys_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, providerKeys(connection), signal),
    },
    {
      done: 'gateway_tokens_resealed',
      failed: 'gateway_tokens_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, gatewayTokens(connection), signal),
    },
    {
      done: 'play_credentials_resealed',
      failed: 'play_credentials_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, playSecrets(connection), signal),
    },
    {
      done: 'webhook_secrets_resealed',
      failed: 'webhook_secrets_reseal_failed',
      run: async ({ connection, signal }) => {
        const total = { resealed: 0, unreadable: 0 };
        for (const rows of webhookSecrets(connection)) {
          const { resealed, unreadable } = await resealOldSecrets(this.vault, rows, signal);
          total.resealed += resealed;
          total.unreadable += unreadable;
        }
        return total;
      },
    },
  ];

  constructor(private readonly vault: Vault) {}
}
