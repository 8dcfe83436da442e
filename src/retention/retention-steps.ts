import type { Provider } from '@nestjs/common';
import { ChallengeRetention } from '../attestation/retention/challenge-retention.service.js';
import { DeviceKeyRetention } from '../attestation/retention/device-key-retention.service.js';
import { AuthEventRetention } from '../auth-events/retention/auth-event-retention.service.js';
import { BudgetRetention } from '../budgets/retention/budget-retention.service.js';
import { GatewayTokenResealing } from '../gateways/resealing/gateway-token-resealing.service.js';
import { IdentityRetention } from '../identity/retention/identity-retention.service.js';
import { LimitRetention } from '../limits/retention/limit-retention.service.js';
import { InvitationRetention } from '../organizations/retention/invitation-retention.service.js';
import type { KeepsForATime, RetentionStep } from '../platform/retention/retention-step.js';
import { ProviderKeyResealing } from '../providers/resealing/provider-key-resealing.service.js';
import { ReceiptRetention } from '../receipts/retention/receipt-retention.service.js';
import { UsageRetention } from '../usage/retention/usage-retention.service.js';
import { UserRetention } from '../users/retention/user-retention.service.js';

/**
 * Who has work to do at night, in this order: what takes long comes behind secrets and people (contract-admin 11), users
 * behind all that may still name them.
 */
const OWNERS = [
  AuthEventRetention,
  ChallengeRetention,
  DeviceKeyRetention,
  ReceiptRetention,
  InvitationRetention,
  IdentityRetention,
  UsageRetention,
  BudgetRetention,
  LimitRetention,
  UserRetention,
  ProviderKeyResealing,
  GatewayTokenResealing,
];

/** All steps of the nightly work, in their order. */
export class RetentionSteps {
  readonly inOrder: readonly RetentionStep[];

  constructor(owners: readonly KeepsForATime[]) {
    this.inOrder = owners.flatMap(({ retentionSteps }) => retentionSteps);
  }
}

export const RETENTION_STEPS: Provider = {
  provide: RetentionSteps,
  inject: OWNERS,
  useFactory: (...owners: readonly KeepsForATime[]) => new RetentionSteps(owners),
};
