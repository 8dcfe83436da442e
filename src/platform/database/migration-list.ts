import { CreateAccounts1763600000000 } from '../../../migrations/1763600000000-create-accounts.js';
import { CreateProviders1763600000001 } from '../../../migrations/1763600000001-create-providers.js';
import { CreateApps1763600000002 } from '../../../migrations/1763600000002-create-apps.js';
import { CreateUsageEvents1763600000003 } from '../../../migrations/1763600000003-create-usage-events.js';
import { CreateEndUsers1763600000004 } from '../../../migrations/1763600000004-create-end-users.js';
import { CreateAuthEvents1763600000005 } from '../../../migrations/1763600000005-create-auth-events.js';
import { CreateUsageUserMonths1763600000006 } from '../../../migrations/1763600000006-create-usage-user-months.js';
import { KeepVirtualUsers1763600000007 } from '../../../migrations/1763600000007-keep-virtual-users.js';
import { CreateProviderGateways1763600000008 } from '../../../migrations/1763600000008-create-provider-gateways.js';
import { PartitionUsageEvents1763600000009 } from '../../../migrations/1763600000009-partition-usage-events.js';
import { IndexUsageByAge1763600000010 } from '../../../migrations/1763600000010-index-usage-by-age.js';
import { CreateLimits1763600000011 } from '../../../migrations/1763600000011-create-limits.js';
import { SumUsersOfDays1763600000012 } from '../../../migrations/1763600000012-sum-users-of-days.js';
import { CreateSessions1763600000013 } from '../../../migrations/1763600000013-create-sessions.js';
import { CreateReceipts1763600000014 } from '../../../migrations/1763600000014-create-receipts.js';
import { CreateAuditEvents1763600000015 } from '../../../migrations/1763600000015-create-audit-events.js';
import { NoteUnsentRequests1763600000016 } from '../../../migrations/1763600000016-note-unsent-requests.js';
import { TellOpenCalls1763600000017 } from '../../../migrations/1763600000017-tell-open-calls.js';
import { CountUsersByStatus1763600000018 } from '../../../migrations/1763600000018-count-users-by-status.js';
import { KeepUserCounts1763600000019 } from '../../../migrations/1763600000019-keep-user-counts.js';
import { PageApps1763600000020 } from '../../../migrations/1763600000020-page-apps.js';
import { NameIssuers1763600000021 } from '../../../migrations/1763600000021-name-issuers.js';
import { ShowEstimates1763600000028 } from '../../../migrations/1763600000028-show-estimates.js';
import { SettleEstimates1763600000029 } from '../../../migrations/1763600000029-settle-estimates.js';
import { StoreUsageParts1763600000031 } from '../../../migrations/1763600000031-store-usage-parts.js';
import { IndexOldUsers1763600000032 } from '../../../migrations/1763600000032-index-old-users.js';
import { MarkRedis1763600000035 } from '../../../migrations/1763600000035-mark-redis.js';
import { CreateCliOperations1763600000036 } from '../../../migrations/1763600000036-create-cli-operations.js';
import { ConnectClients1763600000040 } from '../../../migrations/1763600000040-connect-clients.js';
import { NameOperationSources1763600000041 } from '../../../migrations/1763600000041-name-operation-sources.js';
import { DescribeDeployment1763600000042 } from '../../../migrations/1763600000042-describe-deployment.js';
import { SumMonthsOfApps1763600000043 } from '../../../migrations/1763600000043-sum-months-of-apps.js';
import { NameAppsByHandle1763600000044 } from '../../../migrations/1763600000044-name-apps-by-handle.js';
import { KeepOperationFailures1763600000049 } from '../../../migrations/1763600000049-keep-operation-failures.js';
import { RecordKeptObjects1763600000050 } from '../../../migrations/1763600000050-record-kept-objects.js';
import { StoreKeyCanaries1763600000051 } from '../../../migrations/1763600000051-store-key-canaries.js';
import { AnnounceListeners1763600000052 } from '../../../migrations/1763600000052-announce-listeners.js';
import { SumUsageOfAccounts1763600000060 } from '../../../migrations/1763600000060-sum-usage-of-accounts.js';
import { ExplainRefusals1763600000061 } from '../../../migrations/1763600000061-explain-refusals.js';
import { KeepProviderTests1763600000065 } from '../../../migrations/1763600000065-keep-provider-tests.js';
import { SizeSpendingOfUsers1763600000068 } from '../../../migrations/1763600000068-size-spending-of-users.js';
import { ExpireAppKeys1763600000071 } from '../../../migrations/1763600000071-expire-app-keys.js';
import { RecordChangedValues1763600000072 } from '../../../migrations/1763600000072-record-changed-values.js';
import { KeepHealthHistory1763600000073 } from '../../../migrations/1763600000073-keep-health-history.js';
import { CreatePasskeys1763600000074 } from '../../../migrations/1763600000074-create-passkeys.js';
import { RecoverPasswords1763600000075 } from '../../../migrations/1763600000075-recover-passwords.js';
import { CreateWebhooks1763600000080 } from '../../../migrations/1763600000080-create-webhooks.js';
import { WatchProviders1763600000084 } from '../../../migrations/1763600000084-watch-providers.js';
import { RecordDurations1763600000085 } from '../../../migrations/1763600000085-record-durations.js';
import { CreateBudgetPeriods1763600000090 } from '../../../migrations/1763600000090-create-budget-periods.js';
import { CountGroupsRunsAndTokens1763600000091 } from '../../../migrations/1763600000091-count-groups-runs-and-tokens.js';
import { CreateMails1763600000095 } from '../../../migrations/1763600000095-create-mails.js';
import { TakeProofsOfPhones1763600000100 } from '../../../migrations/1763600000100-take-proofs-of-phones.js';
import { ReadRevocationList1763600000101 } from '../../../migrations/1763600000101-read-revocation-list.js';
import { RecordProofsOfAttempts1763600000102 } from '../../../migrations/1763600000102-record-proofs-of-attempts.js';
import { KeepReceipts1763600000103 } from '../../../migrations/1763600000103-keep-receipts.js';
import { FindSpendersOfEveryWindow1763600000110 } from '../../../migrations/1763600000110-find-spenders-of-every-window.js';
import { TakePlayIntegrity1763600000111 } from '../../../migrations/1763600000111-take-play-integrity.js';
import { KeepChallengesOfKeys1763600000112 } from '../../../migrations/1763600000112-keep-challenges-of-keys.js';
import { ClaimStreams1763600000120 } from '../../../migrations/1763600000120-claim-streams.js';
import { PublishSettledUsage1763600000130 } from '../../../migrations/1763600000130-publish-settled-usage.js';
import { AnnounceInternalAddresses1763600000131 } from '../../../migrations/1763600000131-announce-internal-addresses.js';
import type { MigrationClass } from './data-source.js';

/** Every migration, oldest first. A file in `migrations/` that is not listed here does not run. */
export const MIGRATIONS: readonly MigrationClass[] = [
  CreateAccounts1763600000000,
  CreateProviders1763600000001,
  CreateApps1763600000002,
  CreateUsageEvents1763600000003,
  CreateEndUsers1763600000004,
  CreateAuthEvents1763600000005,
  CreateUsageUserMonths1763600000006,
  KeepVirtualUsers1763600000007,
  CreateProviderGateways1763600000008,
  PartitionUsageEvents1763600000009,
  IndexUsageByAge1763600000010,
  CreateLimits1763600000011,
  SumUsersOfDays1763600000012,
  CreateSessions1763600000013,
  CreateReceipts1763600000014,
  CreateAuditEvents1763600000015,
  NoteUnsentRequests1763600000016,
  TellOpenCalls1763600000017,
  CountUsersByStatus1763600000018,
  KeepUserCounts1763600000019,
  PageApps1763600000020,
  NameIssuers1763600000021,
  ShowEstimates1763600000028,
  SettleEstimates1763600000029,
  StoreUsageParts1763600000031,
  IndexOldUsers1763600000032,
  MarkRedis1763600000035,
  CreateCliOperations1763600000036,
  ConnectClients1763600000040,
  NameOperationSources1763600000041,
  DescribeDeployment1763600000042,
  SumMonthsOfApps1763600000043,
  NameAppsByHandle1763600000044,
  KeepOperationFailures1763600000049,
  RecordKeptObjects1763600000050,
  StoreKeyCanaries1763600000051,
  AnnounceListeners1763600000052,
  SumUsageOfAccounts1763600000060,
  ExplainRefusals1763600000061,
  KeepProviderTests1763600000065,
  SizeSpendingOfUsers1763600000068,
  ExpireAppKeys1763600000071,
  RecordChangedValues1763600000072,
  KeepHealthHistory1763600000073,
  CreatePasskeys1763600000074,
  RecoverPasswords1763600000075,
  CreateWebhooks1763600000080,
  WatchProviders1763600000084,
  RecordDurations1763600000085,
  CreateBudgetPeriods1763600000090,
  CountGroupsRunsAndTokens1763600000091,
  CreateMails1763600000095,
  TakeProofsOfPhones1763600000100,
  ReadRevocationList1763600000101,
  RecordProofsOfAttempts1763600000102,
  KeepReceipts1763600000103,
  FindSpendersOfEveryWindow1763600000110,
  TakePlayIntegrity1763600000111,
  KeepChallengesOfKeys1763600000112,
  ClaimStreams1763600000120,
  PublishSettledUsage1763600000130,
  AnnounceInternalAddresses1763600000131,
];
