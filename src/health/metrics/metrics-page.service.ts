import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ConfigChanges } from '../../platform/database/config-changes.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { Gauge, type MetricAbout } from '../../platform/metrics/instruments.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { reportOf } from '../../platform/metrics/metrics-report.rules.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import { WorkerGroup } from '../../platform/workers/worker-group.js';
import { EventLoopDelay } from './event-loop-delay.js';
import { renderExposition } from './exposition.rules.js';

const MICROSECONDS_PER_SECOND = 1e6;
const MS_PER_SECOND = 1e3;

const SILENT_RETRY_SECONDS = 1;

/** The metrics of this process, from memory only: a scrape queries neither Postgres nor Redis. */
@Injectable()
export class MetricsPage {
  private readonly gauges: readonly Gauge[];

  constructor(
    private readonly counters: Metrics,
    journal: UsageJournal,
    redis: RedisConnection,
    configChanges: ConfigChanges,
    eventLoop: EventLoopDelay,
    clock: Clock,
    private readonly group: WorkerGroup,
  ) {
    this.gauges = [
      counters.openProviderCalls,
      counters.instances,
      counters.clockAhead,
      counters.limitsDegraded,
      counters.budgetHolds,
      counters.budgetHeld,
      gauge('gateway_usage_events_pending', 'Finished events that Postgres does not have yet.', () => journal.pending),
      gauge('gateway_usage_admissions_open', 'Calls that the journal records as started but not ended.', () => {
        return journal.openAdmissions;
      }),
      least('gateway_journal_ok', '1 while the journal accepts new calls: journal of readyz.', () =>
        Number(journal.state === 'ok'),
      ),
      least('gateway_database_connected', '1 while Postgres answers; it is queried every 1.5 seconds.', () => {
        return Number(configChanges.connected);
      }),
      least(
        'gateway_config_notifications_connected',
        '1 while changes of configuration arrive at once: configChanges of readyz. The same connection, so the same value.',
        () => {
          return Number(configChanges.connected);
        },
      ),
      least('gateway_redis_connected', '1 while Redis answers; absent without REDIS_URL.', () => {
        return redis.state === 'unused' ? undefined : Number(redis.state === 'ok');
      }),
      gauge(
        'nodejs_eventloop_delay_p99_seconds',
        'Delay of the event loop, 99th percentile since the last scrape; two scrapers share it.',
        () => eventLoop.takeP99Seconds(),
        { across: 'most' },
      ),
      ...processGauges(clock),
    ];
    group.reportFrom(() => reportOf(counters.families, this.gauges));
  }

  /** Every metric, in the order of a scrape. */
  get metrics(): readonly MetricAbout[] {
    return [...this.counters.families, ...this.gauges].map(({ about }) => about);
  }

  /**
   * The text of a scrape, of all workers together. A worker that is too busy to respond counts with its last report.
   *
   * @throws service_unavailable the primary process does not answer.
   */
  async render(): Promise<string> {
    const report = await this.group.report();
    if (report !== undefined) return renderExposition(report);
    throw new GatewayError('service_unavailable', {
      reason: 'workers_not_heard',
      retryAfterSeconds: SILENT_RETRY_SECONDS,
    });
  }
}

function processGauges(clock: Clock): Gauge[] {
  return [
    gauge('process_cpu_seconds_total', 'CPU time used by this process.', cpuSeconds, { type: 'counter' }),
    least('process_start_time_seconds', 'Start time of this process, in seconds since the Unix epoch.', () => {
      return clock.nowMs() / MS_PER_SECOND - process.uptime();
    }),
    gauge('process_resident_memory_bytes', 'Resident memory of this process.', () => process.memoryUsage.rss()),
    gauge(
      'nodejs_heap_used_bytes',
      'Memory of live and dead JavaScript objects.',
      () => process.memoryUsage().heapUsed,
    ),
    gauge('nodejs_heap_total_bytes', 'Memory reserved for JavaScript objects.', () => process.memoryUsage().heapTotal),
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / MICROSECONDS_PER_SECOND;
}

function gauge(
  name: string,
  help: string,
  read: () => number | undefined,
  about: Partial<Pick<MetricAbout, 'type' | 'across'>> = {},
): Gauge {
  const made = new Gauge({ name, help, type: 'gauge', labels: [], ...about });
  made.read = read;
  return made;
}

/** A gauge whose combined value is the lowest of all processes. */
function least(name: string, help: string, read: () => number | undefined): Gauge {
  return gauge(name, help, read, { across: 'least' });
}
