import { Module } from '@nestjs/common';
import { Retention, RetentionSteps } from './retention.service.js';
import { RetentionSchedule } from './retention-schedule.service.js';
import { RetentionSessions } from './retention-session.repository.js';
import { SecretResealing } from './secret-resealing.service.js';
import { UsageRetentionRepository } from './usage-retention.repository.js';
import { UsageRetention } from './usage-retention.service.js';

/**
 * Retention, nightly and for `npm run maintenance`: deletes, folds and reseals rows of all modules by age. It needs a
 * database and the vault, and starts no service of those modules.
 *
 * Table: `maintenance_runs`. Routes: none. Log lines: auth_events_pruned, auth_challenges_pruned, kept_objects_pruned,
 * usage_events_compacted, usage_rollup_folded, usage_app_months_merged, budget_periods_pruned, device_keys_pruned,
 * app_users_pruned, limit_counts_pruned, creation_receipts_pruned, invitations_pruned, audit_events_pruned,
 * sessions_pruned, cli_operations_pruned, oauth_pruned, management_keys_pruned, provider_keys_resealed,
 * play_credentials_resealed, gateway_tokens_resealed, webhook_secrets_resealed, webhook_events_pruned, their failures,
 * retention_failed, retention_skipped.
 */
@Module({
  providers: [Retention, RetentionSessions, RetentionSteps, SecretResealing, UsageRetention, UsageRetentionRepository],
  exports: [Retention, RetentionSessions],
})
export class RetentionModule {}

/** Schedules retention every night in a running service; `npm run maintenance` uses `RetentionModule` alone. */
@Module({ imports: [RetentionModule], providers: [RetentionSchedule] })
export class NightlyRetentionModule {}
