/**
 * Every `reason` of a 503 in the log, with what it means and what to do. `npm run docs` writes them to `docs/errors.md`.
 */
export const UNAVAILABLE_REASONS = {
  database_unavailable:
    'Postgres did not answer in time, refused the connection, or had no free one. Nothing was done. See `database_silent` and `database` of `readyz`; raise `DATABASE_POOL_SIZE` if it answers.',
  usage_journal_full:
    '`JOURNAL_MAX_PENDING` events wait for Postgres. The provider was not called. Calls are served again as the journal drains.',
  usage_journal_failed:
    'The call could not be written to the journal: the disk of `DATA_DIR` is full or not writable. The provider was not called.',
  gateway_interrupted: 'The process stopped before the provider answered. The call may have cost; repeat it.',
  provider_connections_exhausted:
    '`PROVIDER_MAX_CONNECTIONS` calls to this provider are open, and no fallback was left. It was not called.',
  request_counts_unknown:
    'The request limits cannot be counted now: Redis or the lease of this instance is in doubt, or the time is not known. See `instance_unconfirmed`, `limits_agreement_failed`.',
  request_counters_full:
    'This instance counts for as many users and applications as it can at once. Those who have a counter continue.',
  budget_asked_too_long: 'A call waited too long for its share of a budget from Postgres. See `budget_write_failed`.',
  budget_not_reached: 'The share of a budget could not be taken from Postgres. See `budget_write_failed`.',
  instance_unconfirmed:
    'This instance could not renew its lease in time, so another may have its share of the budget. See the log line `instance_unconfirmed`.',
  plans_file_unreadable: 'The plans file has not been readable since the start. See `PLANS_FILE`.',
  jwks_unreachable:
    'The key set of an identity provider could not be fetched, and no copy is left. See `issuer_key_set_failed`.',
  jwks_invalid: 'What was fetched as the key set of an identity provider is none. See `issuer_key_set_failed`.',
  password_hashing_busy:
    'More passwords are being checked than this process takes at once: many people sign in, or somebody guesses.',
  third_party_unavailable: 'The metadata of Google could not be read. See `third_party_sign_in_failed`.',
  provider_always_moving:
    'Other writes overtook this change of a provider a hundred times. Nothing was changed; repeat it when they end.',
  workers_not_heard: 'The parent process did not answer a scrape of `/metrics` within a second.',
} as const satisfies Record<string, string>;

export type UnavailableReason = keyof typeof UNAVAILABLE_REASONS;
