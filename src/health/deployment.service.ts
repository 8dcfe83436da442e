import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Deployment } from '../accounts/access/deployment.js';
import { instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Secret } from '../common/log/secret.js';
import { VERSION } from '../common/version.js';
import { Environment } from '../platform/config/environment.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { PriceFile } from '../pricing/price-file.js';
import { RetentionSessions } from '../retention/retention-session.repository.js';
import type { DeploymentResponse } from './dto/deployment.response.js';
import { SLOT_MS } from './history/health-history.rules.js';
import { HealthHistory } from './history/health-history.service.js';
import { ReadinessService } from './readiness.service.js';

/** Settings whose value tells an owner why the deployment behaves as it does. */
const SHOWN_SETTINGS = [
  ...([
    'PUBLIC_URL',
    'DATABASE_URL',
    'REDIS_URL',
    'DATA_DIR',
    'WORKERS',
    'JOURNAL_SYNC',
    'SIMULATED_PROVIDER',
  ] as const),
  ...(['ALLOW_ADDITIONAL_REGISTRATIONS', 'GOOGLE_CLIENT_ID', 'OAUTH_ENABLED'] as const),
  ...(['OAUTH_CLIENT_METADATA_ENABLED', 'PLANS_FILE', 'PRICES_FILE'] as const),
  ...(['STOP_DELAY_SECONDS', 'DRAIN_TIMEOUT_SECONDS', 'LOG_LEVEL'] as const),
];

/**
 * What the owners of a deployment see of it.
 *
 * Source: docs/reference/management-api.md#health-and-readiness.
 */
@Injectable()
export class DeploymentReport {
  constructor(
    private readonly retention: RetentionSessions,
    private readonly readiness: ReadinessService,
    private readonly deployment: Deployment,
    private readonly instances: InstanceRegistry,
    private readonly journal: UsageJournal,
    private readonly priceFile: PriceFile,
    private readonly history: HealthHistory,
    private readonly environment: Environment,
  ) {}

  /** @throws forbidden the caller's account is not the one that was opened first. */
  async read({ organizationId }: AdminPrincipal): Promise<DeploymentResponse> {
    if ((await this.deployment.firstOrganizationId()) !== organizationId) {
      throw new GatewayError('forbidden', {
        message: 'Only owners of the first account can see the deployment.',
        reason: 'not_first_account',
      });
    }
    const [lastRun, day] = await Promise.all([this.retention.lastRun(), this.history.day()]);
    return {
      version: VERSION,
      node: process.versions.node,
      readiness: await this.readiness.check(),
      history: {
        since: instantOf(day.sinceMs).toISOString(),
        slotSeconds: SLOT_MS / 1_000,
        parts: day.parts.map(({ part, failing }) => ({ part, failing: [...failing] })),
      },
      instances: this.instances.live.map(({ id, host, pid, version, startedAtMs, redisAnswers, clockAheadMs }) => ({
        ...{ id, host, pid, version, redisAnswers, clockAheadMs },
        current: id === this.instances.id,
        startedAt: instantOf(startedAtMs).toISOString(),
      })),
      database: this.environment.DATABASE_URL === undefined ? 'embedded' : 'external',
      pendingEvents: this.journal.pending,
      maintenance:
        lastRun === undefined
          ? null
          : {
              startedAt: lastRun.startedAt.toISOString(),
              endedAt: lastRun.endedAt.toISOString(),
              outcome: lastRun.outcome,
            },
      prices: this.priceFile.origin,
      settings: SHOWN_SETTINGS.map((name) => ({ name, value: textOf(this.environment[name]) })),
    };
  }
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return value instanceof Secret ? 'set' : String(value);
}
