import type { Reason } from '../errors/reasons.js';

/** Severity. Refusals below 500 are `warn`, 500 and above `error`; normal operation writes no `error` line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Every log line: its name, level and fields, as a closed set. No line has a field for a secret. Source:
 * docs/operations.md#log, docs/reference/security.md#log-lines.
 */
export interface LogEvents {
  /** One per rejected request on any route, with exactly these fields. */
  gateway_error: {
    code: string;
    reason?: Reason | undefined;
    status: number;
    path: string;
    method: string;
    app?: string;
    appVersion?: string;
  };
  /** A client did not read its pending response, and its connection was cut. */
  client_stalled: { path: string; method: string; timeoutSeconds: number };
  /** The detail of an unexpected failure, beside its `gateway_error` line. */
  unhandled_error: { path?: string; method?: string; error: string; stack?: string };
  /** A request was served but its cost could not be determined. */
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
  /** The vault cannot be used; names the variable, never its value. */
  secret_vault_misconfigured: { error: string };
  secret_vault_check_failed: { error: string };
  signing_secret_changed: { variable: string };
  /** Entries of `TRUSTED_PRIVATE_HOSTS` that name metadata addresses, which stay refused. */
  trusted_hosts_without_effect: { entries: string };
  provider_secret_unavailable: { providerId: string; reason: string; detail: string | undefined };
  /** A stored provider instance that this version cannot read; calls to it get "not found". */
  provider_unreadable: { providerId: string; error: string };
  provider_ttfb_timeout: { eventId: string; provider: string; route: string; timeoutSeconds: number };
  /** The shared time of a target chain ran out after `attempts` targets. */
  provider_ttfb_budget_exhausted: { eventId: string; endpoint: string; attempts: number };
  /** A target of a named endpoint failed before the first response byte, and the next one was called. */
  endpoint_fallback: { eventId: string; endpoint: string; provider: string; next: string; reason: string };
  /** The next target could not be called. */
  endpoint_fallback_skipped: { eventId: string; endpoint: string; provider: string; reason: string };
  /** The response broke off after its first byte had reached the client. */
  provider_stream_failed: { eventId: string; provider: string; route: string; error: string };
  usage_events_write_failed: { pending: number; error: string };
  usage_event_rejected: { eventId: string; error: string };
  usage_journal_recovered: { files: number; events: number; interrupted: number; damagedLines: number };
  usage_journal_failed: { error: string };
  /** Partitions for the coming months could not be created; retried later. */
  usage_partitions_failed: { error: string };
  app_config_unreadable: { appId: string; error: string };
  app_key_use_write_failed: { keys: number; error: string };
  /** Device attestation trusts other roots than the vendor's; names the file and the subjects of its certificates. */
  app_attest_root_replaced: { file: string; subjects: string };
  auth_event_record_failed: { events: number; error: string };
  claim_window_write_failed: { appId: string; error: string };
  /** A user whose token lacked a required claim signed in; `delayMs` is the time until the claim arrived. */
  claim_propagation_recovered: { appId: string; delayMs: number };
  issuer_key_set_failed: { url: string; reason: string; error: string };
  /** A third-party sign-in failed at the provider, or because of an invalid response. */
  third_party_sign_in_failed: { provider: string; step: 'begin' | 'callback'; error: string };
  /** Somebody with the link or the user code declined an operation of a terminal. */
  cli_operation_denied: { operation: string };
  /** A terminal opened a login. */
  cli_login_opened: { operation: string };
  /** A person approved a login: `key` is the management key that was created for it. */
  cli_login_approved: { operation: string; key: string };
  /** The key of a login was handed over to its terminal. */
  cli_login_collected: { operation: string };
  /** So many wrong user codes were typed this hour that no code is accepted until it ends. */
  user_codes_refused: { retryAfterSeconds: number };
  /** A person, or a guest, let an OAuth client in. */
  oauth_consent_allowed: { authorization: string; connection: string; client: string; grant: string };
  /** Somebody with the link of a consent page declined. */
  oauth_consent_denied: { authorization: string; client: string };
  /** The metadata document of an OAuth client was refused. */
  oauth_client_refused: { host: string; problem: string };
  /** An authorization request was refused, on a page or by a redirect. */
  oauth_authorization_refused: { error: string; reason: string };
  /** A connection got tokens for its code, or for a refresh token. */
  oauth_tokens_issued: { connection: string; for: 'code' | 'refresh_token' };
  /** A token request was refused. */
  oauth_token_refused: { error: string; reason: string };
  /** A connection was ended because a code or refresh token came back. */
  oauth_connection_ended: { connection: string; reason: string };
  /** Refusals could not be stored as usage events; retried later. */
  usage_refusals_write_failed: { pending: number; error: string };
  /** The start waits for the lease of this incompatible instance to expire. */
  instance_waiting: { host: string; pid: number };
  /** The set of live instances changed; `instances` counts them, this one included. */
  instances_changed: { instances: number };
  /** This instance could not renew its lease, so others may treat it as dead. */
  instance_unconfirmed: { error: string };
  instance_confirmed: { lostMs: number };
  /** Request limits are counted per instance, each within its share, until Redis is available. */
  limits_degraded: { epoch: number; reason: string; instances: number };
  /** Request limits are counted in Redis again, for all instances together. */
  limits_restored: { epoch: number; degradedMs: number };
  /** Redis had lost counts; they were rebuilt from those of the instances. */
  limits_recounted: { epoch: number; reason: string };
  /** The instances could not agree on where to count requests; limited calls are refused until they do. */
  limits_agreement_failed: { error: string };
  /** Budget grants of an expired instance were returned. */
  budget_grants_expired: { instance: string; grants: number; nanoUsd: number };
  budget_write_failed: { error: string };
  plans_file_read: { file: string; plans: number; accounts: number };
  /**
   * `PLANS_FILE` cannot be used: the previous content stays in force; without one, accounts get `billing_unavailable`.
   */
  plans_file_unreadable: { file: string; error: string };
  /** Spans could not be delivered to the collector, or were dropped; `lost` counts since the last such line. */
  traces_export_failed: { lost: number; error: string };
  /** Redis does not answer: address limits count on this instance alone until it does. */
  redis_lost: { error: string };
  redis_back: { lostMs: number };
  /** The steps of the nightly retention, each with the number of rows it removed, summed up or sealed again. */
  auth_events_pruned: { events: number };
  auth_challenges_pruned: { challenges: number };
  kept_objects_pruned: { objects: number };
  /**
   * `months` partitions were dropped with all their events, `events` deleted beside those; `days`, `userDays` and
   * `userMonths` are rollup rows.
   */
  usage_events_compacted: { months: number; events: number; days: number; userDays: number; userMonths: number };
  usage_rollup_folded: { days: number };
  usage_app_months_merged: { rows: number };
  /** Monthly spending of applications and of users. */
  budget_months_pruned: { months: number; userMonths: number };
  /** Device keys that were unused for long. */
  device_keys_pruned: { keys: number };
  /** Users of applications without recent activity, except blocked ones. */
  app_users_pruned: { users: number };
  /** Request counts of past days. */
  limit_counts_pruned: { counts: number };
  /** Responses that can no longer be replayed, and expired receipts. */
  creation_receipts_pruned: { sealedAnswers: number; receipts: number };
  /** Invitations that ended long ago. */
  invitations_pruned: { invitations: number };
  /** Keys of terminals that nobody collected, and operations that ended long ago. */
  cli_operations_pruned: { sealedKeys: number; operations: number };
  oauth_pruned: { authorizations: number; tokens: number };
  /** Audit events of all accounts. */
  audit_events_pruned: { events: number };
  /** Expired console sessions. */
  sessions_pruned: { sessions: number };
  /** Management keys of all accounts that were revoked long ago. */
  management_keys_pruned: { keys: number };
  /** Provider keys resealed from an older version of the vault key; `unreadable` ones are unchanged. */
  provider_keys_resealed: { resealed: number; unreadable: number };
  /** The same for tokens of upstream gateways. */
  gateway_tokens_resealed: { resealed: number; unreadable: number };
  /** Retention steps that failed; the next night continues. */
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
  sessions_prune_failed: { error: string };
  management_keys_prune_failed: { error: string };
  provider_keys_reseal_failed: { error: string };
  gateway_tokens_reseal_failed: { error: string };
  /** Retention could not start, or its connection broke. */
  retention_failed: { error: string };
  /** Another instance runs retention. */
  retention_skipped: Record<string, never>;
  bootstrap_account_created: { organizationId: string };
  bootstrap_key_ignored: { reason: string };
  database_waiting: { error: string };
  database_embedded_started: { adopted: boolean; directory: string };
  config_changes_lost: { error: string };
  /** This machine's clock differs by more than 2 s from the shared clock; negative: behind. Once per change. */
  clock_differs: { aheadMs: number };
  clock_agrees: { aheadMs: number };
  /** Another instance uses another Redis, so no instance counts in Redis. */
  redis_differs: { host: string; pid: number };
  redis_agrees: Record<string, never>;
  /** Requests get 503 at once until a probe succeeds. */
  database_silent: { silenceMs: number };
  database_answers_again: Record<string, never>;
  /** One of the `WORKERS` ended unexpectedly and is restarted. */
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
  provider_secret_unavailable: 'error',
  provider_unreadable: 'error',
  provider_ttfb_timeout: 'warn',
  provider_ttfb_budget_exhausted: 'warn',
  endpoint_fallback: 'warn',
  endpoint_fallback_skipped: 'warn',
  provider_stream_failed: 'warn',
  usage_events_write_failed: 'error',
  usage_event_rejected: 'error',
  usage_journal_failed: 'error',
  usage_partitions_failed: 'error',
  app_config_unreadable: 'error',
  app_key_use_write_failed: 'warn',
  app_attest_root_replaced: 'warn',
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
  sessions_prune_failed: 'error',
  management_keys_prune_failed: 'error',
  provider_keys_reseal_failed: 'error',
  gateway_tokens_reseal_failed: 'error',
  retention_failed: 'error',
  bootstrap_key_ignored: 'warn',
  database_waiting: 'warn',
  config_changes_lost: 'warn',
  database_silent: 'error',
};
