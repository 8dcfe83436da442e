/** The documentation of one table. */
interface TablePurpose {
  /** The folder that owns the table. */
  readonly owner: string;
  /** The purpose in one sentence. */
  readonly purpose: string;
}

/** Related tables. */
export interface TableArea {
  readonly title: string;
  readonly tables: Readonly<Record<string, TablePurpose>>;
}

/** Every table of the database, by area. `npm run docs` fails on a table that is not listed here. */
export const TABLE_AREAS: readonly TableArea[] = [
  {
    title: 'Accounts and sign-in',
    tables: {
      organizations: {
        owner: 'src/accounts/access',
        purpose: 'One row for each account, the tenant that owns everything else.',
      },
      identities: {
        owner: 'src/accounts/access',
        purpose: 'Persons and service identities that act in organizations.',
      },
      memberships: {
        owner: 'src/accounts/access',
        purpose: 'Which identity belongs to which organization, with its role.',
      },
      invitations: {
        owner: 'src/accounts/organizations',
        purpose: 'Invitations into organizations and their outcomes.',
      },
      management_keys: {
        owner: 'src/accounts/access',
        purpose: 'Hashes of the management keys of an organization, and the connections of OAuth clients.',
      },
      webhooks: {
        owner: 'src/webhooks',
        purpose: 'Endpoints that receive events of an account, with their sealed secrets.',
      },
      webhook_events: {
        owner: 'src/platform/outbox',
        purpose: 'Events that at least one webhook asks for, as they are sent.',
      },
      mail_subscriptions: {
        owner: 'src/mail',
        purpose: 'Which events of an account are mailed to a member.',
      },
      mails: {
        owner: 'src/mail',
        purpose: 'Mails to be sent: about an event to a member, or an invitation.',
      },
      webhook_deliveries: {
        owner: 'src/webhooks',
        purpose: 'Which event is sent to which webhook, and with what outcome.',
      },
      oauth_tokens: {
        owner: 'src/accounts/access',
        purpose: 'The two newest generations of tokens of each connection, as hashes.',
      },
      oauth_authorizations: {
        owner: 'src/consent',
        purpose: 'Authorizations requested by OAuth clients, and their decisions. Proofs are hashes, codes are sealed.',
      },
      passwords: { owner: 'src/sign-in', purpose: 'Password hashes of persons who sign in with a password.' },
      recovery_codes: {
        owner: 'src/sign-in',
        purpose: 'Unused recovery codes of persons, hashed like passwords.',
      },
      password_resets: {
        owner: 'src/sign-in',
        purpose: 'Links with which a member sets a new password, made by an owner; tokens as hashes.',
      },
      passkeys: { owner: 'src/sign-in', purpose: 'Public keys of passkeys of persons.' },
      passkey_challenges: {
        owner: 'src/sign-in',
        purpose: 'Hashes of challenges that wait for the signature of a passkey.',
      },
      openid_subjects: {
        owner: 'src/sign-in',
        purpose: 'Which subject of which OpenID provider belongs to which person.',
      },
      sessions: {
        owner: 'src/accounts/access',
        purpose: 'Browser sessions of persons who are signed in to the console.',
      },
      cli_operations: {
        owner: 'src/cli',
        purpose: 'Operations of terminals and their outcomes. Keys, proofs and codes are hashed or sealed.',
      },
      key_canaries: {
        owner: 'src/platform',
        purpose: 'Values that identify the keys of the vault and the signing secrets.',
      },
      deployment: { owner: 'src/accounts/access', purpose: 'The permanent identity of this deployment: one row.' },
      audit_events: {
        owner: 'src/accounts/access',
        purpose: 'One row for each change in an organization: who changed what.',
      },
      creation_receipts: {
        owner: 'src/idempotency',
        purpose:
          'Answers to creations with an `Idempotency-Key`, so that a retry gets the same answer; keys in them are sealed.',
      },
    },
  },
  {
    title: 'Applications and providers',
    tables: {
      apps: { owner: 'src/apps', purpose: 'Applications with their configuration; `src/app-directory` reads them.' },
      app_keys: { owner: 'src/app-keys', purpose: 'Hashes of the API keys of applications.' },
      providers: { owner: 'src/providers', purpose: 'Provider instances with their sealed keys and custom prices.' },
      provider_health: {
        owner: 'src/providers/health',
        purpose: 'How the calls of the last minute to each provider ended, and whether it is failing.',
      },
      provider_gateways: {
        owner: 'src/providers/provider-gateways',
        purpose: 'Connections to upstream gateways with their sealed tokens.',
      },
    },
  },
  {
    title: 'Users and devices',
    tables: {
      stream_claims: {
        owner: 'src/proxy/streams',
        purpose: 'Which call an `Idempotency-Key` of a caller stands for, as keyed hashes, for minutes.',
      },
      app_users: {
        owner: 'src/users',
        purpose:
          'End users of applications: those who proved themselves, those seen in usage only, those who are blocked.',
      },
      app_user_counts: {
        owner: 'src/users',
        purpose:
          'How many users an application has, by status, kept by triggers of `app_users`; the counts are sums over rows.',
      },
      auth_challenges: { owner: 'src/client-auth/devices', purpose: 'Challenges that devices have to sign.' },
      device_keys: {
        owner: 'src/client-auth/devices',
        purpose: 'Public keys of registered devices with their assertion counters.',
      },
      android_revocation_list: {
        owner: 'src/client-auth/devices',
        purpose: 'One row: when the list of revoked Android keys was read, from where, and when it is read next.',
      },
      android_revoked_serials: {
        owner: 'src/client-auth/devices',
        purpose: 'Serial numbers of certificates of Android key attestation that their vendor revoked or suspended.',
      },
      play_credentials: {
        owner: 'src/client-auth/devices',
        purpose: 'What decodes the Play Integrity tokens of an application, sealed: at most one of each kind.',
      },
      auth_events: {
        owner: 'src/client-auth/events',
        purpose: 'One row for each attempt to register a device or to exchange a token.',
      },
    },
  },
  {
    title: 'Usage',
    tables: {
      usage_events: {
        owner: 'src/usage',
        purpose:
          'One row for each provider call, and one for refusals of one kind within a minute; in a partition for each UTC month (`usage_events_2026_11`) and `usage_events_default`.',
      },
      kept_objects: {
        owner: 'src/usage',
        purpose: 'The application and user for whom a provider stores an object; kept for 30 days.',
      },
      usage_days: { owner: 'src/usage', purpose: 'Sums of events by UTC day and by everything that reports group by.' },
      usage_months: {
        owner: 'src/usage',
        purpose: 'Sums of events by UTC month; they replace those of `usage_days` after 400 days.',
      },
      usage_user_days: { owner: 'src/usage', purpose: 'Sums of events by user and UTC day.' },
      usage_user_months: { owner: 'src/usage', purpose: 'Sums of events by user and UTC month.' },
      usage_key_days: {
        owner: 'src/usage',
        purpose: 'Sums of events by application key and UTC day, kept by triggers of `usage_events`.',
      },
      usage_group_days: {
        owner: 'src/usage',
        purpose: 'Sums of events by group and UTC day, kept by triggers of `usage_events`.',
      },
      usage_latencies: {
        owner: 'src/usage',
        purpose:
          'Successful calls by UTC day, model and class of the time to the first (`requests`) and last byte (`durations`), kept by triggers of `usage_events`; a class ends 10 % above the one before.',
      },
      usage_all_users_days: {
        owner: 'src/usage',
        purpose: 'Sums over all users by UTC day, kept by triggers of `usage_user_days`; a day is the sum of its rows.',
      },
      usage_app_months: {
        owner: 'src/usage',
        purpose:
          'Sums by application and UTC month, kept by triggers of `usage_days` and `usage_months`; a month is the sum of its rows.',
      },
    },
  },
  {
    title: 'Limits and budgets',
    tables: {
      budget_periods: {
        owner: 'src/budgets',
        purpose:
          'What an application or one of its users spent and was granted in a UTC day, week or month, or in total; `src/usage` adds what is spent.',
      },
      budget_runs: {
        owner: 'src/budgets',
        purpose: 'Runs: calls of a backend that share a budget, which the first call sets.',
      },
      budget_grants: { owner: 'src/budgets', purpose: 'The part of a budget that each instance may spend.' },
      limit_epoch: {
        owner: 'src/limits/requests',
        purpose: 'The one row that says where requests are counted now: in Redis or on the instances.',
      },
      limit_counts: {
        owner: 'src/limits/requests',
        purpose: 'Request counts of the current windows that instances handed over at the start of an epoch.',
      },
      limit_unsent: {
        owner: 'src/limits/requests',
        purpose: 'Requests that were counted but never sent to a provider.',
      },
    },
  },
  {
    title: 'Instances and migrations',
    tables: {
      gateway_instances: {
        owner: 'src/platform',
        purpose:
          'Processes that serve from this database; `src/limits/requests` keeps the epoch that each follows here, `src/usage` its open calls and until when its usage is stored.',
      },
      health_slots: {
        owner: 'src/health',
        purpose: 'How often each part of the deployment failed in each quarter of an hour of the last day.',
      },
      maintenance_runs: {
        owner: 'src/retention',
        purpose: 'One row: when the last nightly job ran, and its result.',
      },
      migrations: { owner: 'src/platform', purpose: 'Migrations that have run; TypeORM creates and fills it.' },
    },
  },
];
