import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/clock.js';
import { Refusals } from '../common/errors/error-answers.js';
import { ServiceTrouble } from '../common/errors/framework-error.rules.js';
import { GatewayErrorFilter } from '../common/errors/gateway-error.filter.js';
import { GatewayErrorLog } from '../common/errors/gateway-error-log.js';
import { Ids } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import { SharedClock } from './clock/shared-clock.js';
import { Environment } from './config/environment.js';
import { ConfigChanges } from './database/config-changes.js';
import { isConnectionTrouble } from './database/database-errors.js';
import { BackgroundDataSource } from './database/pools.js';
import { InstanceRegistry } from './instances/instance-registry.js';
import { MailLinks } from './mail/mail-links.js';
import { Mailer } from './mail/mailer.js';
import { Metrics } from './metrics/metrics.js';
import { GuardedRequest } from './outbound/guarded-request.js';
import { OwnAddresses } from './outbound/own-addresses.js';
import { MailOutbox } from './outbox/mail-outbox.js';
import { Outbox } from './outbox/outbox.js';
import { RedisConnection } from './redis/redis-connection.js';
import { AuthSecrets, TokenSecrets } from './secrets/signing-secrets.js';
import { Vault } from './vault/vault.js';
import { WorkerGroup } from './workers/worker-group.js';
import { processGroup } from './workers/worker-process.js';

/**
 * External resources, opened before the application and passed to it: the same parts in `main.ts`, tests and
 * extensions.
 */
export interface PlatformParts {
  readonly environment: Environment;
  /** The clock of all modules; the shared clock in a running service. */
  readonly clock: Clock;
  readonly sharedClock: SharedClock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
  readonly backgroundDataSource: DataSource;
  readonly configChanges: ConfigChanges;
  readonly redis: RedisConnection;
  readonly instances: InstanceRegistry;
  readonly vault: Vault;
  readonly tokenSecrets: TokenSecrets;
  readonly authSecrets: AuthSecrets;
  readonly outbound: GuardedRequest;
  readonly ownAddresses: OwnAddresses;
}

class DatabaseTrouble extends ServiceTrouble {
  isServiceTrouble(error: unknown): boolean {
    return isConnectionTrouble(error);
  }
}

/** Provides the platform to every module without an import; the only dynamic module. */
@Module({})
class PlatformModule {}

/** The platform module for parts that are already open. */
export function platformModule(parts: PlatformParts): DynamicModule {
  const providers = [
    { provide: Environment, useValue: parts.environment },
    { provide: Clock, useValue: parts.clock },
    { provide: SharedClock, useValue: parts.sharedClock },
    { provide: Ids, useValue: parts.ids },
    { provide: Log, useValue: parts.log },
    { provide: Metrics, useValue: parts.metrics },
    { provide: DataSource, useValue: parts.dataSource },
    { provide: BackgroundDataSource, useValue: parts.backgroundDataSource },
    { provide: ConfigChanges, useValue: parts.configChanges },
    { provide: RedisConnection, useValue: parts.redis },
    { provide: InstanceRegistry, useValue: parts.instances },
    { provide: Vault, useValue: parts.vault },
    { provide: TokenSecrets, useValue: parts.tokenSecrets },
    { provide: AuthSecrets, useValue: parts.authSecrets },
    { provide: GuardedRequest, useValue: parts.outbound },
    { provide: OwnAddresses, useValue: parts.ownAddresses },
    { provide: WorkerGroup, useFactory: processGroup },
    { provide: ServiceTrouble, useClass: DatabaseTrouble },
    GatewayErrorLog,
    GatewayErrorFilter,
    MailLinks,
    Mailer,
    MailOutbox,
    Outbox,
    Refusals,
  ];
  return { module: PlatformModule, global: true, providers, exports: providers };
}
