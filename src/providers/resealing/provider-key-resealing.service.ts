import { Injectable } from '@nestjs/common';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { resealOldSecrets } from '../../platform/vault/resealing.js';
import { Vault } from '../../platform/vault/vault.js';
import { ProviderKeyResealingRepository } from './provider-key-resealing.repository.js';

/** Seals keys of provider instances with the vault's current version. Source: threats 6.3. */
@Injectable()
export class ProviderKeyResealing implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'provider_keys_resealed',
      failed: 'provider_keys_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, this.keys.rows(connection), signal),
    },
  ];

  constructor(
    private readonly keys: ProviderKeyResealingRepository,
    private readonly vault: Vault,
  ) {}
}
