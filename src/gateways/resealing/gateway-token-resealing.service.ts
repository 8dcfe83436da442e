import { Injectable } from '@nestjs/common';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { resealOldSecrets } from '../../platform/vault/resealing.js';
import { Vault } from '../../platform/vault/vault.js';
import { GatewayTokenResealingRepository } from './gateway-token-resealing.repository.js';

/** Seals tokens of upstream gateways with the vault's current version. Source: threats 6.3. */
@Injectable()
export class GatewayTokenResealing implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'gateway_tokens_resealed',
      failed: 'gateway_tokens_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, this.tokens.rows(connection), signal),
    },
  ];

  constructor(
    private readonly tokens: GatewayTokenResealingRepository,
    private readonly vault: Vault,
  ) {}
}
