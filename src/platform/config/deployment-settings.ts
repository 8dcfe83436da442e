import type { Secret } from '../../common/log/secret.js';
import { flag, int, origin, postgresUrl, redisUrl, Setting, text } from './setting.js';

/** Listening addresses and storage: the first part of `Environment`. */
export class DeploymentSettings {
  @Setting({ description: 'Address to listen on.', parse: text(), fallback: '127.0.0.1' })
  readonly HOST: string;

  @Setting({ description: 'Port to listen on; 0 picks a free one.', parse: int(0, 65_535), fallback: 8080 })
  readonly PORT: number;

  @Setting({
    description: 'URL at which people and clients reach the service, as in the browser.',
    parse: origin(),
    fallbackText: '`http://localhost:<PORT>`',
  })
  readonly PUBLIC_URL: string | undefined;

  @Setting({
    description:
      'Directory of the embedded database, the generated secrets and the usage journal. Must survive restarts.',
    parse: text(),
    fallback: './.data',
  })
  readonly DATA_DIR: string;

  @Setting({
    description: 'Address of your Postgres, version 15 or newer. Without it the gateway runs its own in `DATA_DIR`.',
    parse: postgresUrl(),
    fallbackText: 'unset: embedded',
  })
  readonly DATABASE_URL: Secret | undefined;

  @Setting({
    description:
      'Maximum connections of this process to Postgres for requests; it holds four more for background work, two for notifications and heartbeats.',
    parse: int(2, 200),
    fallback: 10,
  })
  readonly DATABASE_POOL_SIZE: number;

  @Setting({
    description:
      'Longest time a request waits for a free connection to Postgres, in milliseconds; for a statement 0.4 s less. Then it gets 503 with `Retry-After`.',
    parse: int(1_000, 30_000),
    fallback: 1_900,
  })
  readonly DATABASE_TIMEOUT_MS: number;

  @Setting({
    description: 'Longest time the start waits for Postgres, in seconds.',
    parse: int(0, 3600),
    fallback: 60,
  })
  readonly DATABASE_WAIT_SECONDS: number;

  @Setting({
    description:
      'Address of your Redis or Valkey, version 7 or newer: `redis://` or `rediss://` for one server, `redis+sentinel://` or `redis+cluster://` (with TLS `rediss+…`) for several, separated by commas. Required for several instances.',
    parse: redisUrl(),
    fallbackText: 'unset: one instance, which counts for itself',
  })
  readonly REDIS_URL: Secret | undefined;

  @Setting({
    description:
      'Address at which the other instances reach this process, and only this one, such as `http://10.0.0.5:8080`. While Redis is lost, they read its kept answers there. Not with `WORKERS` above 1.',
    parse: origin(),
    fallbackText: 'unset: off',
  })
  readonly INTERNAL_URL: string | undefined;

  @Setting({
    description:
      'Whether providers of type `simulated` can be created: the gateway generates their answers, for trials ' +
      'without a key.',
    parse: flag(),
    fallbackText: 'unset: only with the embedded database',
  })
  readonly SIMULATED_PROVIDER: boolean | undefined;
}

/**
 * Whether this deployment offers the simulated provider. Without the setting it does with the embedded database, on
 * which people try the gateway.
 */
export function offersSimulation({
  SIMULATED_PROVIDER: setting,
  DATABASE_URL: databaseUrl,
}: Pick<DeploymentSettings, 'SIMULATED_PROVIDER' | 'DATABASE_URL'>): boolean {
  return setting ?? databaseUrl === undefined;
}
