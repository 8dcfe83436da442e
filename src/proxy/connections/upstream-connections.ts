import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { offersSimulation } from '../../platform/config/deployment-settings.js';
import { Environment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { guardedConnector } from '../../platform/outbound/guarded-connector.js';
import { simulatedConnector } from '../../upstreams/simulated/simulated-connector.js';
import { type OriginBounds, OriginPool } from './origin-pool.js';

const TRIM_INTERVAL_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Most bytes of one read. */
const READ_BYTES = 64 * 1024;

/** Connection pools of all provider origins, dialled through the outbound guard. */
@Injectable()
export class UpstreamConnections implements OnModuleInit {
  readonly #pools = new Map<string, OriginPool>();
  readonly #connect;
  readonly #bounds: OriginBounds;

  constructor(
    environment: Environment,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    const connect = guardedConnector({
      trustedHosts: environment.TRUSTED_PRIVATE_HOSTS,
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

  /** @param origin scheme, host and port of a provider's base URL. */
  poolFor(origin: string): OriginPool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new OriginPool(origin, this.#bounds, this.#connect, this.clock);
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** Closes idle connections and removes the pools of unused origins. */
  @Interval(TRIM_INTERVAL_MS)
  trim(): void {
    for (const [origin, pool] of this.#pools) {
      pool.trim();
      if (pool.isEmpty) this.#pools.delete(origin);
    }
  }

  get #busy(): number {
    return this.#pools.values().reduce((sum, pool) => sum + pool.busy, 0);
  }
}
