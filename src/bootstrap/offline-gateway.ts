import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SystemClock } from '../common/clock.js';
import { SystemIds } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import { Secret } from '../common/log/secret.js';
import { SharedClock } from '../platform/clock/shared-clock.js';
import { loadEnvironment } from '../platform/config/environment.js';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { createDataSource } from '../platform/database/data-source.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { InstancesRepository } from '../platform/instances/instances.repository.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { GuardedRequest } from '../platform/outbound/guarded-request.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import { RedisConnection } from '../platform/redis/redis-connection.js';
import { RedisIdentity } from '../platform/redis/redis-identity.js';
import { AuthSecrets, TokenSecrets } from '../platform/secrets/signing-secrets.js';
import { createVault } from '../platform/vault/create-vault.js';
import { readVaultSettings } from '../platform/vault/vault-settings.rules.js';
import { createGateway } from './app.setup.js';

/** Never dialled. */
const NO_DATABASE = new Secret('postgres://nobody@127.0.0.1:1/none');

/**
 * The application with default settings and no resources, to generate documents from, never to serve. Nothing is
 * connected, opened or written. End it with `close()`.
 *
 * @throws Error when a route declares no access.
 */
export function createOfflineGateway(): Promise<NestFastifyApplication> {
  const environment = loadEnvironment({});
  const clock = new SystemClock();
  const ids = new SystemIds();
  const log = new Log(clock, 'error', () => undefined);
  const sharedClock = new SharedClock({ own: clock, follows: false, log });
  const redis = new RedisConnection({ url: undefined, clock, log });
  const dataSource = createDataSource({
    url: NO_DATABASE,
    poolSize: 1,
    applicationName: 'gateway-docs',
    entities: [],
    migrations: [],
  });
  return createGateway({
    publicUrl: `http://localhost:${environment.PORT}`,
    parts: {
      environment,
      clock,
      sharedClock,
      ids,
      log,
      metrics: new Metrics(),
      dataSource,
      backgroundDataSource: dataSource,
      configChanges: new ConfigChanges({ url: NO_DATABASE, onTrouble: () => undefined }),
      redis,
      instances: new InstanceRegistry({
        id: 'offline',
        usesRedis: false,
        redis,
        redisMark: new RedisIdentity(redis, ids),
        clock,
        sharedClock,
        log,
        instances: new InstancesRepository(dataSource),
        listensAt: () => [],
      }),
      vault: createVault(readVaultSettings({}), ids),
      tokenSecrets: new TokenSecrets(new Secret('signs nothing'), undefined),
      authSecrets: new AuthSecrets(new Secret('signs nothing'), undefined),
      outbound: new GuardedRequest({ trustedHosts: environment.TRUSTED_PRIVATE_HOSTS }),
      ownAddresses: new OwnAddresses(environment.PUBLIC_URL),
    },
  });
}
