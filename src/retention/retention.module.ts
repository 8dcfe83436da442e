import { Module } from '@nestjs/common';
import { ChallengeRetentionModule } from '../attestation/retention/challenge-retention.module.js';
import { DeviceKeyRetentionModule } from '../attestation/retention/device-key-retention.module.js';
import { AuthEventRetentionModule } from '../auth-events/retention/auth-event-retention.module.js';
import { BudgetRetentionModule } from '../budgets/retention/budget-retention.module.js';
import { GatewayTokenResealingModule } from '../gateways/resealing/gateway-token-resealing.module.js';
import { IdentityRetentionModule } from '../identity/retention/identity-retention.module.js';
import { LimitRetentionModule } from '../limits/retention/limit-retention.module.js';
import { InvitationRetentionModule } from '../organizations/retention/invitation-retention.module.js';
import { ProviderKeyResealingModule } from '../providers/resealing/provider-key-resealing.module.js';
import { ReceiptRetentionModule } from '../receipts/retention/receipt-retention.module.js';
import { UsageRetentionModule } from '../usage/retention/usage-retention.module.js';
import { UserRetentionModule } from '../users/retention/user-retention.module.js';
import { Retention } from './retention.service.js';
import { RetentionSessions } from './retention-session.repository.js';
import { RETENTION_STEPS } from './retention-steps.js';

/**
 * What is deleted and summed up after its time, and sealed anew: the order, the time and the log. The rooms that own the
 * rows do it.
 *
 * Tables: none of its own. Routes: none. Log lines: auth_events_pruned, auth_challenges_pruned, usage_events_compacted,
 * usage_rollup_folded, budget_months_pruned, device_keys_pruned, app_users_pruned, limit_counts_pruned, creation_receipts_pruned, invitations_pruned,
 * audit_events_pruned, sessions_pruned, management_keys_pruned, provider_keys_resealed, gateway_tokens_resealed, their
 * failures, retention_failed, retention_skipped.
 */
@Module({
  imports: [
    AuthEventRetentionModule,
    BudgetRetentionModule,
    ChallengeRetentionModule,
    DeviceKeyRetentionModule,
    GatewayTokenResealingModule,
    IdentityRetentionModule,
    InvitationRetentionModule,
    LimitRetentionModule,
    ProviderKeyResealingModule,
    ReceiptRetentionModule,
    UsageRetentionModule,
    UserRetentionModule,
  ],
  providers: [Retention, RetentionSessions, RETENTION_STEPS],
  exports: [Retention],
})
export class RetentionModule {}
