import type { LogEvents } from '../../common/log/log-events.js';

/** The documentation of one log line. */
interface LogLine {
  readonly means: string;
  /** What an operator does about it; absent when there is nothing to do. */
  readonly advice?: string;
}

/** Every log line, in the order of `docs/log-events.md`. */
export const LOG_LINES: Readonly<Record<keyof LogEvents, LogLine>> = {
  gateway_error: {
    means: 'A request was refused. From `status` 500 on the level is `error`.',
    advice:
      'Look up `code` in [errors.md](errors.md) and `reason` in [reasons.md](reasons.md). Many of one kind: a client is misconfigured.',
  },
  client_stalled: {
    means:
      'A client read nothing of its answer for `timeoutSeconds`; its connection was cut and the call recorded as `client_aborted`.',
    advice:
      'Many for one application: its clients do not read their answers. To allow slower readers, raise `CLIENT_STALL_TIMEOUT_SECONDS`.',
  },
  unhandled_error: {
    means: 'An unexpected error, with its stack; the client got a plain 500.',
    advice: 'Report it.',
  },
  usage_unresolved_cost: {
    means: 'A call was served, and its cost or a part of it is unknown; `reason` says why.',
    advice: 'See [Unresolved costs](monitoring.md#unresolved-costs).',
  },
  trusted_hosts_without_effect: {
    means: 'Entries of `TRUSTED_PRIVATE_HOSTS` name cloud metadata addresses, which stay refused.',
    advice: 'Remove them; find out who added them.',
  },
  engine_options_missing: {
    means: "The process runs with V8's defaults: it uses more memory, and more CPU for each call. `problem` says why.",
    advice: 'Start with `npm start`, or with the command under [Start](operations.md#start).',
  },
  secret_vault_misconfigured: {
    means:
      'The vault is misconfigured, or its key is not the one that sealed the stored secrets; `error` names the ' +
      'variable.',
    advice: 'Correct it and restart; see [Vault](operations.md#vault).',
  },
  secret_vault_check_failed: {
    means: 'The key of the vault could not be verified against the stored secrets; the check is repeated in a minute.',
    advice: 'Check Postgres and the key service.',
  },
  signing_secret_changed: {
    means: '`variable` differs from the secret of the last start.',
    advice:
      'Nothing, if you changed it. Otherwise restore the old one: what it signed is refused, unless it is set as ' +
      'the previous secret.',
  },
  provider_secret_unavailable: {
    means: 'The key of a provider could not be decrypted; `reason` says why.',
    advice:
      '`secret_undecryptable`: restore the version of the vault key, or enter the key again. `vault_unreachable`: `detail` has the answer of the key service. `vault_failed`: see the log of the extension.',
  },
  plans_file_read: {
    means: '`PLANS_FILE` was read.',
  },
  plans_file_unreadable: {
    means: '`PLANS_FILE` is invalid; the previous version, if any, stays in force.',
    advice: 'Correct what `error` names.',
  },
  prices_file_read: {
    means: '`PRICES_FILE` was read. New calls are charged at its prices.',
  },
  prices_file_unreadable: {
    means: '`PRICES_FILE` is invalid or gone; the previous version stays in force until the next start.',
    advice: 'Correct what `error` names. The service does not start with such a file.',
  },
  provider_unreadable: {
    means: 'This version cannot read a stored provider; calls treat it as missing.',
    advice: 'Usually a newer version stored it: upgrade, or delete it.',
  },
  provider_ttfb_timeout: {
    means:
      'A provider sent no response headers within `timeoutSeconds`. The client got 504, unless `endpoint_fallback` follows with the same `eventId`.',
    advice: 'The provider is slow, or `PROVIDER_TTFB_TIMEOUT_SECONDS` is short.',
  },
  provider_ttfb_budget_exhausted: {
    means:
      'The targets of a named endpoint used up their shared time after `attempts` attempts. The client got the last ' +
      'answer.',
    advice: 'The providers are slow, or `PROVIDER_TTFB_TIMEOUT_SECONDS` is short.',
  },
  endpoint_fallback: {
    means: 'A target of a named endpoint failed before anything reached the client; `next` was called instead.',
    advice: 'Many: look at `provider` and `reason`; see [Fallbacks](operations.md#named-endpoints-and-fallbacks).',
  },
  endpoint_fallback_skipped: {
    means: 'The next target of a named endpoint could not be called; `reason` says why.',
    advice:
      '`budget_does_not_cover`: its maximum cost. `provider_not_active`: it is paused or deleted. `provider_connections_exhausted`: none was free. An error code: see [errors.md](errors.md).',
  },
  provider_stream_failed: {
    means:
      'An answer broke off after its first byte, and the connection of the client was cut; the event is a `provider_error`.',
    advice:
      'Check the provider and the network. `error` `silent`: nothing came for `PROVIDER_SILENCE_TIMEOUT_SECONDS`; raise it if models reason for longer.',
  },
  kept_objects_write_failed: {
    means:
      'Owners of objects that providers keep could not be stored; `pending` of them wait in memory, and are retried.',
    advice: 'Check Postgres. After a restart, clients may have to send content instead of ids.',
  },
  streams_evicted: {
    means:
      'Answers that applications keep were dropped before their time, because they filled `maxBytes`; at most one line a minute.',
    advice: 'Raise `STREAM_STORE_BYTES`, or keep answers for a shorter time.',
  },
  stream_claims_write_failed: {
    means: 'What became of calls with an `Idempotency-Key` could not be stored; this process still knows it.',
    advice: 'Check Postgres. A key of a call that failed may stay taken for up to two minutes.',
  },
  stream_owner_unreachable: {
    means:
      'Redis is lost, and another instance did not answer at its `INTERNAL_URL`; its kept answers are not readable here. At most one line a minute.',
    advice:
      'Check that the address leads from here to that process alone. Status 404: it leads to another one. Status 401: `JWT_SECRET` differs.',
  },
  usage_events_write_failed: {
    means:
      'Finished events could not be stored; `pending` of them wait in the journal, and are retried. At most one line a second.',
    advice: 'Check Postgres. Nothing is lost.',
  },
  usage_event_rejected: {
    means:
      'Postgres rejected an event for its content, or its journal was recovered after more than 90 days; it was moved to `journal/rejected.log`.',
    advice: 'Content: report it with that line. Too old: see [Budgets](operations.md#budgets).',
  },
  usage_refusals_write_failed: {
    means:
      'Rows that count refusals could not be stored; `pending` of them wait in memory, and are retried. At most one line a second.',
    advice: 'Check Postgres. They are lost only if the process ends first.',
  },
  usage_journal_recovered: {
    means: 'A start stored the journal of a dead process.',
    advice: 'With `damagedLines` above 0 the disk lost data; the lines are in `journal/rejected.log`.',
  },
  usage_partitions_failed: {
    means:
      'Partitions of `usage_events` for this month and the next two could not be created; retried every minute. Events are still stored.',
    advice: 'Check Postgres; the user of `DATABASE_URL` must own the table.',
  },
  usage_journal_failed: {
    means: 'The journal cannot be written or read. New calls get 503 while it cannot be written.',
    advice: 'Disk full, or `DATA_DIR` not writable. It recovers by itself.',
  },
  app_config_unreadable: {
    means: 'This version cannot read a stored configuration; calls of that application get 500.',
    advice: 'Read the application, correct its configuration, replace it.',
  },
  management_key_use_write_failed: {
    means: 'The last use of some management keys could not be stored.',
  },
  app_key_use_write_failed: {
    means: 'The last use of some application keys could not be stored.',
  },
  provider_health_write_failed: {
    means: 'The outcomes of calls to providers could not be stored; they are retried. `provider.failing` may be late.',
  },
  rising_events_failed: {
    means: 'The check for rising counts failed; it is repeated in a minute.',
  },
  app_attest_root_replaced: {
    means: 'Device attestation trusts the certificates in `file` instead of those of the vendor.',
    advice: 'Nothing, if intended. Otherwise unset `APP_ATTEST_ROOT_CA_FILE`: holders of those keys can forge devices.',
  },
  android_attestation_roots_replaced: {
    means: 'Android key attestation trusts the keys of the certificates in `file` instead of those of the vendor.',
    advice:
      'Nothing, if intended. Otherwise unset `ANDROID_ATTESTATION_ROOTS_FILE`: holders of those keys can forge devices.',
  },
  android_revocation_list_failed: {
    means: 'The list of revoked Android keys could not be read; it is retried in a minute.',
    advice:
      'Let the instances reach `ANDROID_REVOCATION_URL`. Registrations stop when the list is too old for `ANDROID_REVOCATION_LIST`.',
  },
  play_integrity_failed: {
    means:
      'A token of Play Integrity could not be decoded, so a registration was 503: `reason` says why, `error` which answer.',
    advice:
      '`play_credentials_missing`: set the credentials for `decode`. `play_access_refused`: enable the Play Integrity API for the service account, and link its project in Play Console. `play_quota_exhausted`: ask the vendor for more. Else let the instances reach the vendor.',
  },
  auth_event_record_failed: {
    means: '`events` authentication events were lost. At most one line a second.',
    advice: 'Check Postgres. Sign-ins are not affected; their history is incomplete.',
  },
  claim_propagation_recovered: {
    means: 'A user whose identity token lacked a required claim has signed in after `delayMs`.',
  },
  claim_window_write_failed: {
    means: 'The delay of a required claim could not be stored; the sign-in was not affected.',
    advice: 'Check Postgres.',
  },
  issuer_key_set_failed: {
    means:
      'The key set of an identity provider could not be read. Cached keys are used until they are ten minutes old; then sign-ins get 503.',
    advice: 'Check that this machine reaches `url`.',
  },
  cli_login_opened: {
    means: 'A terminal opened a login, which a person may approve for 15 minutes.',
    advice: 'Many without approvals: somebody may send links to people who did not ask for them.',
  },
  cli_login_approved: {
    means: 'A person approved a login: `key` is in the list of management keys.',
  },
  cli_login_collected: {
    means: 'The key of a login was handed over to its terminal.',
    advice: 'An approved login without this line leaves a key that nobody has: revoke it.',
  },
  cli_operation_denied: {
    means: 'Somebody with the link or user code of an operation declined it.',
    advice: 'Many: links reach people who did not ask for them.',
  },
  user_codes_refused: {
    means: '600 wrong user codes were typed within an hour; no code is accepted for `retryAfterSeconds`. Links work.',
    advice: 'Somebody is guessing codes: see the addresses at your proxy.',
  },
  oauth_client_refused: {
    means: 'The metadata document of an OAuth client at `host` was not accepted; `problem` says why.',
    advice: 'If you know the client, tell its vendor. Many hosts: somebody is probing the server.',
  },
  oauth_authorization_refused: {
    means: 'The request of an OAuth client was refused, on a page or by a redirect.',
    advice: 'If a client of yours cannot connect, `reason` says what it sends wrong.',
  },
  oauth_consent_allowed: {
    means: 'A person, or a guest, gave an OAuth client access: `connection` is in the list of management keys.',
  },
  oauth_consent_denied: {
    means: 'Somebody with the link of a consent page declined.',
    advice: 'Many: links reach people who did not ask for them.',
  },
  oauth_tokens_issued: {
    means: 'A connection got tokens for its code or for a refresh token.',
  },
  oauth_token_refused: {
    means: 'A token request was refused; `reason` says why.',
    advice: 'Many: somebody is guessing codes or tokens, which cannot succeed.',
  },
  oauth_connection_ended: {
    means:
      'A code or refresh token was used a second time, so the connection was ended: it was stolen, or the client is broken.',
    advice: 'Ask the owner, who is in the audit trail, to connect again; look for a leak if it repeats.',
  },
  third_party_sign_in_failed: {
    means:
      'A sign-in with Google failed: at `begin` its metadata could not be read, at `callback` its answer was not valid.',
    advice:
      '`begin`: check that this machine reaches `GOOGLE_ISSUER_URL`. `callback`: compare client id, secret and redirect URI with those at Google; single lines may be attacks.',
  },
  auth_events_pruned: {
    means: 'The nightly job deleted authentication events; see [Retention](maintenance.md#retention).',
  },
  auth_challenges_pruned: {
    means: 'It deleted expired challenges of devices.',
  },
  kept_objects_pruned: {
    means: 'It deleted owners of objects that providers no longer keep.',
  },
  usage_events_compacted: {
    means:
      'It dropped `months` months of usage events, deleted `events` others, `userDays` and `userMonths`, and rolled ' +
      'up `days` more rows. Totals stay.',
  },
  usage_rollup_folded: {
    means: 'It rolled up `days` rows of daily sums into monthly sums.',
  },
  usage_app_months_merged: {
    means: 'It merged sums by application and month; there are `rows` fewer.',
  },
  budget_periods_pruned: {
    means:
      'It deleted spent amounts of past periods: `periods` of applications and groups, `userPeriods` of users, `minutes` of limits per minute; and `runs` that ended long ago.',
  },
  device_keys_pruned: {
    means: 'It deleted device keys unused for 90 days.',
  },
  app_users_pruned: {
    means: 'It deleted users without activity for 90 days.',
  },
  limit_counts_pruned: {
    means: 'It deleted old request counts.',
  },
  creation_receipts_pruned: {
    means: 'It cleared `sealedAnswers` answers with keys, and deleted `receipts` idempotency records.',
  },
  invitations_pruned: {
    means: 'It deleted invitations that ended 90 days ago.',
  },
  cli_operations_pruned: {
    means: 'It cleared `sealedKeys` keys that no terminal collected, and deleted old operations.',
  },
  oauth_pruned: {
    means: 'It deleted old requests of OAuth clients, and tokens of ended connections.',
  },
  audit_events_pruned: {
    means: 'It deleted audit events older than 90 days.',
  },
  webhook_events_pruned: {
    means: 'It deleted webhook events older than 30 days, with their deliveries.',
  },
  sessions_pruned: {
    means: 'It deleted expired console sessions.',
  },
  management_keys_pruned: {
    means: 'It deleted management keys revoked 90 days ago.',
  },
  provider_keys_resealed: {
    means: 'It resealed provider keys with the current version of the vault key.',
    advice: '`unreadable` above 0: see [Vault](operations.md#vault).',
  },
  gateway_tokens_resealed: {
    means: 'It resealed tokens of upstream gateways.',
    advice: 'The same.',
  },
  play_credentials_resealed: {
    means: 'It resealed credentials of Play Integrity.',
    advice: 'The same.',
  },
  webhook_secrets_resealed: {
    means: 'It resealed secrets of webhooks.',
    advice: 'The same.',
  },
  auth_events_prune_failed: {
    means: 'Deleting authentication events failed; the other steps of the night continued.',
    advice: 'Check Postgres. The next night, or `npm run maintenance`, continues there.',
  },
  auth_challenges_prune_failed: {
    means: 'Deleting challenges failed.',
    advice: 'The same.',
  },
  kept_objects_prune_failed: {
    means: 'Deleting owners of objects failed.',
    advice: 'The same.',
  },
  usage_compaction_failed: {
    means: 'Deleting usage events failed. No total is lost or counted twice.',
    advice: 'The same.',
  },
  usage_fold_failed: {
    means: 'Rolling up days failed. No total is lost or counted twice.',
    advice: 'The same.',
  },
  usage_merge_failed: {
    means: 'Merging sums of months failed. No total is lost or counted twice.',
    advice: 'The same.',
  },
  budget_prune_failed: {
    means: 'Deleting spent amounts failed.',
    advice: 'The same.',
  },
  device_keys_prune_failed: {
    means: 'Deleting device keys failed.',
    advice: 'The same.',
  },
  app_users_prune_failed: {
    means: 'Deleting users failed.',
    advice: 'The same.',
  },
  limit_counts_prune_failed: {
    means: 'Deleting request counts failed.',
    advice: 'The same.',
  },
  creation_receipts_prune_failed: {
    means: 'Deleting idempotency records failed.',
    advice: 'The same.',
  },
  invitations_prune_failed: {
    means: 'Deleting invitations failed.',
    advice: 'The same.',
  },
  cli_operations_prune_failed: {
    means: 'Deleting operations of terminals failed.',
    advice: 'The same.',
  },
  oauth_prune_failed: {
    means: 'Deleting requests and tokens of OAuth clients failed.',
    advice: 'The same.',
  },
  audit_events_prune_failed: {
    means: 'Deleting audit events failed.',
    advice: 'The same.',
  },
  webhook_events_prune_failed: {
    means: 'Deleting webhook events failed.',
    advice: 'The same.',
  },
  sessions_prune_failed: {
    means: 'Deleting sessions failed. Expired ones stay invalid.',
    advice: 'The same.',
  },
  management_keys_prune_failed: {
    means: 'Deleting revoked management keys failed. They stay invalid.',
    advice: 'The same.',
  },
  provider_keys_reseal_failed: {
    means: 'Resealing provider keys failed. All still work; keep the older versions of the vault key.',
    advice: 'The same.',
  },
  gateway_tokens_reseal_failed: {
    means: 'Resealing tokens of upstream gateways failed. All still work.',
    advice: 'The same.',
  },
  play_credentials_reseal_failed: {
    means: 'Resealing credentials of Play Integrity failed. All still work.',
    advice: 'The same.',
  },
  webhook_secrets_reseal_failed: {
    means: 'Resealing secrets of webhooks failed. All still work.',
    advice: 'The same.',
  },
  webhook_disabled: {
    means: 'The endpoint of `webhook` answered 410, so the webhook was disabled.',
    advice: 'Nothing, if its owner removed it. Otherwise enable the webhook again.',
  },
  webhook_deliveries_failed: {
    means: 'Webhook events could not be read or delivered; they stay due.',
    advice: 'Check Postgres and the vault. Nothing is lost.',
  },
  mail_not_sent: {
    means: 'A mail was not accepted: `code` is that of the SMTP server or of the connection. It is retried for a day.',
    advice: 'Check the server of `SMTP_URL`. 535: the password; 550: the address of the member.',
  },
  mails_failed: {
    means: 'Mails could not be read or recorded; they stay due.',
    advice: 'Check Postgres. Nothing is lost.',
  },
  budget_grants_expired: {
    means:
      '`instance` was dead for five minutes and its journal was not recovered, so its budget grants were returned.',
    advice: 'Start it again with its `DATA_DIR`, or its last events are lost.',
  },
  budget_write_failed: {
    means: 'A budget grant could not be extended or returned. At most one line a second.',
    advice: 'Check Postgres. Calls beyond the grant of this instance get 503.',
  },
  retention_failed: {
    means: 'The nightly job could not begin.',
    advice: 'Check Postgres.',
  },
  retention_skipped: {
    means: 'Another instance was running the nightly job.',
  },
  bootstrap_account_created: {
    means: '`BOOTSTRAP_MANAGEMENT_KEY` created the first account.',
    advice: 'Register with the key as `bootstrapKey` to own the account; remove the variable when convenient.',
  },
  bootstrap_key_ignored: {
    means:
      '`BOOTSTRAP_MANAGEMENT_KEY` has no effect: there is an account already (`account_exists`), or the key was revoked (`key_revoked`).',
    advice: 'Remove the variable.',
  },
  database_waiting: {
    means: 'The start waits for Postgres, or for an instance that migrates.',
    advice: 'If it lasts, check Postgres.',
  },
  database_embedded_started: {
    means: 'The embedded Postgres runs in `directory`, for the first time or again; `adopted`: it was already running.',
  },
  database_embedded_lost: {
    means:
      'The embedded Postgres ended while it was in use. It is started again; until then this process is not ready.',
    advice: 'Find the cause in `postgres.log` in `directory`, and in the log of the system: often a lack of memory.',
  },
  database_embedded_restart_failed: {
    means: 'The embedded Postgres could not be started again; the next attempt is in `retryInMs`.',
    advice: 'Remove the cause that `error` names.',
  },
  traces_export_failed: {
    means: 'Spans could not be delivered; `lost` were dropped since the last such line. At most one line a minute.',
    advice: 'Check the collector. With `lost` 0 they are retried.',
  },
  database_silent: {
    means:
      'Postgres did not answer a query for `silenceMs`: it is frozen, or the network drops packets. Requests that ' +
      'need it get 503 immediately until it answers a probe.',
    advice: 'Check Postgres and the network to it.',
  },
  database_answers_again: {
    means: 'Postgres answered a probe after `database_silent`.',
  },
  config_changes_lost: {
    means:
      'The connection for change notifications broke: changes arrive within a minute instead of a second. It reconnects.',
  },
  clock_differs: {
    means:
      'The clock of this machine is `aheadMs` ahead of that of the database; negative: behind. One line for each change.',
    advice: 'Check NTP on both machines; see [Clocks](operations.md#clocks).',
  },
  clock_agrees: {
    means: 'The difference is below 2 seconds again.',
  },
  redis_lost: {
    means: 'Redis does not answer, or refuses writes. One line for each outage; it is retried.',
    advice: 'See [Redis](operations.md#redis). For request limits see `limits_degraded`.',
  },
  redis_differs: {
    means:
      'This instance and process `pid` on `host` use different Redis servers, so no instance counts in Redis; ' +
      'limits are divided and stay exact.',
    advice: 'Find out which `REDIS_URL` is right; see [Redis](operations.md#redis).',
  },
  redis_agrees: {
    means: 'All instances count in one Redis again.',
  },
  redis_back: {
    means: 'Redis answers again after `lostMs`.',
  },
  instance_waiting: {
    means:
      'The start waits some seconds for the lease of process `pid` on `host` to end; the two cannot serve at the ' +
      'same time.',
    advice: 'If the start is refused, see [Several instances](operations.md#several-instances).',
  },
  instances_changed: {
    means: 'An instance joined or left; `instances` are live.',
  },
  instance_unconfirmed: {
    means:
      'This instance could not renew its lease. One line for each outage. After 2 seconds calls with limits get 503.',
    advice: 'Check Postgres. It is retried.',
  },
  instance_confirmed: {
    means: 'The lease was renewed after `lostMs`.',
  },
  limits_degraded: {
    means:
      'Since `epoch`, the `instances` count request limits themselves, each within its share. No limit is exceeded; ' +
      'one instance may refuse while another still accepts.',
    advice: 'See [Redis](operations.md#redis). It ends when Redis answers all of them.',
  },
  limits_restored: {
    means: 'Limits are counted in Redis again, after `degradedMs`.',
  },
  limits_recounted: {
    means:
      'The counts were merged: Redis had lost them (`redis_forgot`), or an instance came back (`instance_returned`).',
    advice: '`redis_forgot`: make sure that nobody flushes this Redis and that it evicts nothing.',
  },
  limits_agreement_failed: {
    means: 'The instances could not agree where to count; calls with limits get 503. One line for each outage.',
    advice: 'Check Postgres. It is retried.',
  },
  worker_exited: {
    means: 'A worker ended by `exitCode` or `signal`; a new one starts in `restartInMs` and recovers its journal.',
    advice: 'Look for the cause: lack of memory, or the lines before.',
  },
  gateway_started: {
    means: 'The gateway listens.',
  },
  gateway_stopping: {
    means: 'A stop signal arrived; after `STOP_DELAY_SECONDS` the port closes.',
  },
  gateway_stopped: {
    means: 'The stop is complete: everything is written, and all connections are closed.',
  },
};
