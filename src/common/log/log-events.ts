import type { Reason } from '../errors/reasons.js';

/** Severity. Refusals below 500 are `warn`, 500 and above `error`; normal operation writes no `error` line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Every log line: its name and fields, as a closed set. No line has a field for a secret. What each means is in
 * `src/commands/documentation/log-event-texts.ts`. Source: docs/monitoring.md#log,
 * docs/reference/security.md#log-lines.
 */
export interface LogEvents {
  gateway_error: {
    code: string;
    reason?: Reason | undefined;
    status: number;
    path: string;
    method: string;
    app?: string;
    appVersion?: string;
  };
  client_stalled: { path: string; method: string; timeoutSeconds: number };
  unhandled_error: { path?: string; method?: string; error: string; stack?: string };
  usage_unresolved_cost: {
    eventId: string;
    appId: string;
    userId: string | null;
    provider: string;
    providerSlug: string;
    model: string;
    route: string;
    contentType: string | null;
    reason: string;
  };
  secret_vault_misconfigured: { error: string };
  secret_vault_check_failed: { error: string };
  signing_secret_changed: { variable: string };
  trusted_hosts_without_effect: { entries: string };
  engine_options_missing: { problem: string };
  provider_secret_unavailable: { providerId: string; reason: string; detail: string | undefined };
  provider_unreadable: { providerId: string; error: string };
  provider_health_write_failed: { error: string };
  rising_events_failed: { error: string };
  provider_ttfb_timeout: { eventId: string; provider: string; route: string; timeoutSeconds: number };
  provider_ttfb_budget_exhausted: { eventId: string; endpoint: string; attempts: number };
  endpoint_fallback: { eventId: string; endpoint: string; provider: string; next: string; reason: string };
  endpoint_fallback_skipped: { eventId: string; endpoint: string; provider: string; reason: string };
  provider_stream_failed: { eventId: string; provider: string; route: string; error: string };
  streams_evicted: { streams: number; maxBytes: number };
  stream_claims_write_failed: { error: string };
  stream_owner_unreachable: { instance: string; error: string };
  usage_events_write_failed: { pending: number; error: string };
  usage_event_rejected: { eventId: string; error: string };
  usage_journal_recovered: { files: number; events: number; interrupted: number; damagedLines: number };
  usage_journal_failed: { error: string };
  usage_partitions_failed: { error: string };
  app_config_unreadable: { appId: string; error: string };
  app_key_use_write_failed: { keys: number; error: string };
  management_key_use_write_failed: { keys: number; error: string };
  app_attest_root_replaced: { file: string; subjects: string };
  android_attestation_roots_replaced: { file: string; subjects: string };
  android_revocation_list_failed: { error: string };
  play_integrity_failed: { appId: string; reason: string; error: string };
  auth_event_record_failed: { events: number; error: string };
  claim_window_write_failed: { appId: string; error: string };
  claim_propagation_recovered: { appId: string; delayMs: number };
  issuer_key_set_failed: { url: string; reason: string; error: string };
  third_party_sign_in_failed: { provider: string; step: 'begin' | 'callback'; error: string };
  cli_operation_denied: { operation: string };
  cli_login_opened: { operation: string };
  cli_login_approved: { operation: string; key: string };
  cli_login_collected: { operation: string };
  user_codes_refused: { retryAfterSeconds: number };
  oauth_consent_allowed: { authorization: string; connection: string; client: string; grant: string };
  oauth_consent_denied: { authorization: string; client: string };
  oauth_client_refused: { host: string; problem: string };
  oauth_authorization_refused: { error: string; reason: string };
  oauth_tokens_issued: { connection: string; for: 'code' | 'refresh_token' };
  oauth_token_refused: { error: string; reason: string };
  oauth_connection_ended: { connection: string; reason: string };
  usage_refusals_write_failed: { pending: number; error: string };
  instance_waiting: { host: string; pid: number };
  instances_changed: { instances: number };
  instance_unconfirmed: { error: string };
  instance_confirmed: { lostMs: number };
  limits_degraded: { epoch: number; reason: string; instances: number };
  limits_restored: { epoch: number; degradedMs: number };
  limits_recounted: { epoch: number; reason: string };
  limits_agreement_failed: { error: string };
  budget_grants_expired: { instance: string; grants: number; nanoUsd: number };
  budget_write_failed: { error: string };
  plans_file_read: { file: string; plans: number; accounts: number };
  plans_file_unreadable: { file: string; error: string };
  prices_file_read: { file: string; models: number };
  prices_file_unreadable: { file: string; error: string };
  traces_export_failed: { lost: number; error: string };
  redis_lost: { error: string };
  redis_back: { lostMs: number };
  auth_events_pruned: { events: number };
  auth_challenges_pruned: { challenges: number };
  kept_objects_pruned: { objects: number };
  usage_events_compacted: { months: number; events: number; days: number; userDays: number; userMonths: number };
  usage_rollup_folded: { days: number };
  usage_app_months_merged: { rows: number };
  budget_periods_pruned: { periods: number; userPeriods: number; minutes: number; runs: number };
  device_keys_pruned: { keys: number };
  app_users_pruned: { users: number };
  limit_counts_pruned: { counts: number };
  creation_receipts_pruned: { sealedAnswers: number; receipts: number };
  invitations_pruned: { invitations: number };
  cli_operations_pruned: { sealedKeys: number; operations: number };
  oauth_pruned: { authorizations: number; tokens: number };
  audit_events_pruned: { events: number };
  webhook_events_pruned: { events: number };
  sessions_pruned: { sessions: number };
  management_keys_pruned: { keys: number };
  provider_keys_resealed: { resealed: number; unreadable: number };
  gateway_tokens_resealed: { resealed: number; unreadable: number };
  play_credentials_resealed: { resealed: number; unreadable: number };
  webhook_secrets_resealed: { resealed: number; unreadable: number };
  auth_events_prune_failed: { error: string };
  auth_challenges_prune_failed: { error: string };
  kept_objects_prune_failed: { error: string };
  kept_objects_write_failed: { pending: number; error: string };
  usage_compaction_failed: { error: string };
  usage_fold_failed: { error: string };
  usage_merge_failed: { error: string };
  budget_prune_failed: { error: string };
  device_keys_prune_failed: { error: string };
  app_users_prune_failed: { error: string };
  limit_counts_prune_failed: { error: string };
  creation_receipts_prune_failed: { error: string };
  invitations_prune_failed: { error: string };
  cli_operations_prune_failed: { error: string };
  oauth_prune_failed: { error: string };
  audit_events_prune_failed: { error: string };
  webhook_events_prune_failed: { error: string };
  sessions_prune_failed: { error: string };
  management_keys_prune_failed: { error: string };
  provider_keys_reseal_failed: { error: string };
  gateway_tokens_reseal_failed: { error: string };
  play_credentials_reseal_failed: { error: string };
  webhook_secrets_reseal_failed: { error: string };
  webhook_disabled: { webhook: string };
  webhook_deliveries_failed: { error: string };
  mail_not_sent: { mail: string; code: string; attempts: number };
  mails_failed: { error: string };
  retention_failed: { error: string };
  retention_skipped: Record<string, never>;
  bootstrap_account_created: { organizationId: string };
  bootstrap_key_ignored: { reason: string };
  database_waiting: { error: string };
  database_embedded_started: { adopted: boolean; directory: string };
  database_embedded_lost: { directory: string };
  database_embedded_restart_failed: { error: string; retryInMs: number };
  config_changes_lost: { error: string };
  clock_differs: { aheadMs: number };
  clock_agrees: { aheadMs: number };
  redis_differs: { host: string; pid: number };
  redis_agrees: Record<string, never>;
  database_silent: { silenceMs: number };
  database_answers_again: Record<string, never>;
  worker_exited: { pid: number; exitCode: number | null; signal: string | null; restartInMs: number };
  gateway_started: { instanceId: string; url: string; version: string; node: string };
  gateway_stopping: { instanceId: string; signal: string };
  gateway_stopped: { instanceId: string };
}

/** Levels other than `info`; the status determines the level of `gateway_error`. */
export const LOG_LEVELS: Partial<Record<keyof LogEvents, LogLevel>> = {
  client_stalled: 'warn',
  unhandled_error: 'error',
  usage_unresolved_cost: 'error',
  secret_vault_misconfigured: 'error',
  secret_vault_check_failed: 'warn',
  signing_secret_changed: 'warn',
  trusted_hosts_without_effect: 'warn',
  engine_options_missing: 'info',
  provider_secret_unavailable: 'error',
  provider_unreadable: 'error',
  provider_ttfb_timeout: 'warn',
  provider_ttfb_budget_exhausted: 'warn',
  endpoint_fallback: 'warn',
  endpoint_fallback_skipped: 'warn',
  provider_stream_failed: 'warn',
  streams_evicted: 'warn',
  stream_claims_write_failed: 'error',
  stream_owner_unreachable: 'warn',
  usage_events_write_failed: 'error',
  usage_event_rejected: 'error',
  usage_journal_failed: 'error',
  usage_partitions_failed: 'error',
  app_config_unreadable: 'error',
  app_key_use_write_failed: 'warn',
  provider_health_write_failed: 'warn',
  rising_events_failed: 'warn',
  management_key_use_write_failed: 'warn',
  app_attest_root_replaced: 'warn',
  android_attestation_roots_replaced: 'warn',
  android_revocation_list_failed: 'warn',
  play_integrity_failed: 'warn',
  auth_event_record_failed: 'error',
  claim_window_write_failed: 'warn',
  issuer_key_set_failed: 'warn',
  third_party_sign_in_failed: 'warn',
  user_codes_refused: 'warn',
  oauth_client_refused: 'warn',
  oauth_authorization_refused: 'warn',
  oauth_token_refused: 'warn',
  oauth_connection_ended: 'warn',
  usage_refusals_write_failed: 'error',
  clock_differs: 'warn',
  instance_waiting: 'warn',
  worker_exited: 'error',
  instance_unconfirmed: 'error',
  limits_degraded: 'error',
  limits_recounted: 'warn',
  limits_agreement_failed: 'error',
  budget_grants_expired: 'warn',
  budget_write_failed: 'error',
  plans_file_unreadable: 'error',
  prices_file_unreadable: 'error',
  traces_export_failed: 'warn',
  redis_differs: 'error',
  redis_lost: 'error',
  redis_back: 'info',
  auth_events_prune_failed: 'error',
  auth_challenges_prune_failed: 'error',
  kept_objects_prune_failed: 'error',
  kept_objects_write_failed: 'error',
  usage_compaction_failed: 'error',
  usage_fold_failed: 'error',
  usage_merge_failed: 'error',
  budget_prune_failed: 'error',
  device_keys_prune_failed: 'error',
  app_users_prune_failed: 'error',
  limit_counts_prune_failed: 'error',
  creation_receipts_prune_failed: 'error',
  invitations_prune_failed: 'error',
  cli_operations_prune_failed: 'error',
  oauth_prune_failed: 'error',
  audit_events_prune_failed: 'error',
  webhook_events_prune_failed: 'error',
  sessions_prune_failed: 'error',
  management_keys_prune_failed: 'error',
  provider_keys_reseal_failed: 'error',
  gateway_tokens_reseal_failed: 'error',
  play_credentials_reseal_failed: 'error',
  webhook_secrets_reseal_failed: 'error',
  webhook_disabled: 'warn',
  webhook_deliveries_failed: 'error',
  mail_not_sent: 'warn',
  mails_failed: 'error',
  retention_failed: 'error',
  bootstrap_key_ignored: 'warn',
  database_waiting: 'warn',
  config_changes_lost: 'warn',
  database_embedded_lost: 'error',
  database_embedded_restart_failed: 'error',
  database_silent: 'error',
};
