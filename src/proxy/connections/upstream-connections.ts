import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { offersSimulation } from '../../platform/config/deployment-settings.js';
import { Environment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { guardedConnector } from '../../platform/outbound/guarded-connector.js';
import { OwnAddresses } from '../../platform/outbound/own-addresses.js';
import { simulatedConnector } from '../../upstreams/simulated/simulated-connector.js';
import { type OriginBounds, OriginPool } from './origin-pool.js';

const TRIM_INTERVAL_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Most bytes of one read. */
const READ_BYTES = 64 * 1024;

/** What a pool belongs to: a provider instance, whose credential no other instance uses, and its origin. */
export interface PoolOwner {
  readonly id: string;
  readonly baseUrl: { readonly origin: string };
}

/**
 * A connection pool for each provider instance, dialled through the outbound guard. Whatever a provider does to a
 * connection stays with the instance, even where several have one origin.
 */
@Injectable()
export class UpstreamConnections implements OnModuleInit {
  readonly #pools = new Map<string, OriginPool>();
  readonly #connect;
  readonly #bounds: OriginBounds;

  constructor(
    environment: Environment,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    own: OwnAddresses,
  ) {
    const connect = guardedConnector({
      trustedHosts: environment.TRUSTED_PRIVATE_HOSTS,
      egress: environment,
      own,
      refusesPublicUrl: true,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
    });
    this.#connect = offersSimulation(environment) ? simulatedConnector(connect, clock) : connect;
    this.#bounds = {
      maxConnections: environment.PROVIDER_MAX_CONNECTIONS,
      silenceTimeoutMs: environment.PROVIDER_SILENCE_TIMEOUT_SECONDS * 1000,
    };
  }

  onModuleInit(): void {
    this.metrics.openProviderCalls.read = () => this.#busy;
  }

  poolFor({ id, baseUrl: { origin } }: PoolOwner): OriginPool {
    const key = `${id} ${origin}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = new OriginPool(origin, this.#bounds, this.#connect, this.clock);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** Closes idle connections and removes unused pools. */
  @Interval(TRIM_INTERVAL_MS)
  trim(): void {
    for (const [key, pool] of this.#pools) {
      pool.trim();
      if (pool.isEmpty) this.#pools.delete(key);
    }
  }

  get #busy(): number {
    return this.#pools.values().reduce((sum, pool) => sum + pool.busy, 0);
  }
}
