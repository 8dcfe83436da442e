import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../../support/seeded.js';
import { BudgetFleet } from '../budgets/budget-fleet.js';
import { type MemoryCurve, type MemorySample, memoryCurve, sampleProcess } from './memory-curve.js';
import { type SoakProvider, startSoakProvider } from './soak-provider.js';
import { SoakTraffic } from './soak-traffic.js';

const QUIET_MS = 5_000;
/** Maximum length of a fault, and of the longer pauses between faults. */
const MOST_TROUBLE_MS = 2_500;
const PAUSE_TIMES = 8;

export interface SoakOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly clients: number;
  readonly sampleEveryMs: number;
}

export interface SoakReport {
  readonly seed: number;
  readonly minutes: number;
  readonly calls: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Empty if there is no violation. */
  readonly violations: readonly string[];
  /** Events of calls that no provider saw: their connection was cut before it could. */
  readonly unseen: number;
  readonly memory: readonly MemoryCurve[];
}

/**
 * Mixed traffic on two instances while Redis and Postgres come and go; then every call is looked for in the records.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const random = seeded(options.seed);
  const fleet = await BudgetFleet.start(options.seed);
  const provider = await startSoakProvider(random);
  try {
    const traffic = await SoakTraffic.prepare(fleet, provider.url, random);
    return await new Soak(fleet, provider, traffic, random, options).run();
  } finally {
    await fleet.end();
    await provider.close();
  }
}

class Soak {
  private readonly faults: Record<string, number> = {};
  private readonly samples: MemorySample[][];
  private isOver = false;

  constructor(
    private readonly fleet: BudgetFleet,
    private readonly provider: SoakProvider,
    private readonly traffic: SoakTraffic,
    private readonly random: () => number,
    private readonly options: SoakOptions,
  ) {
    this.samples = fleet.instances.map(() => []);
  }

  async run(): Promise<SoakReport> {
    const { fleet, traffic, options } = this;
    const clients = Array.from({ length: options.clients }, () => traffic.call());
    const running = [...clients, traffic.err(), traffic.manage(), this.trouble(), this.sample()];
    await sleep(options.minutes * 60_000);
    this.isOver = true;
    traffic.stop();
    await Promise.all(running);
    await sleep(QUIET_MS);
    const unhandled = await this.unhandledErrors();
    await fleet.stop();
    const { lost, unseen } = await this.compare();
    return {
      seed: options.seed,
      minutes: options.minutes,
      calls: this.provider.seen.size,
      answers: traffic.answers,
      faults: this.faults,
      violations: [...traffic.violations, ...unhandled, ...lost, ...(await fleet.ledgerDifferences())],
      unseen,
      memory: this.samples.map(memoryCurve),
    };
  }

  private async trouble(): Promise<void> {
    const { fleet, random } = this;
    const faults: Record<string, () => Promise<void>> = {
      'redis frozen': async () => {
        fleet.redis.freeze();
        await sleep(random() * MOST_TROUBLE_MS);
        fleet.redis.thaw();
      },
      'redis killed': async () => {
        await fleet.redis.kill();
        await sleep(random() * MOST_TROUBLE_MS);
        await fleet.redis.revive();
      },
      'postgres frozen': async () => {
        const { database } = fleet.at(Math.floor(random() * fleet.instances.length));
        database.freeze();
        await sleep(random() * MOST_TROUBLE_MS);
        database.thaw();
      },
      'sessions cut': () => fleet.cutSessions(),
    };
    const names = Object.keys(faults);
    while (!this.isOver) {
      await sleep(random() * PAUSE_TIMES * MOST_TROUBLE_MS);
      const name = names[Math.floor(random() * names.length)] ?? '';
      await faults[name]?.();
      this.faults[name] = (this.faults[name] ?? 0) + 1;
    }
  }

  private async sample(): Promise<void> {
    while (!this.isOver) {
      for (const [at, { process }] of this.fleet.instances.entries()) {
        this.samples[at]?.push(sampleProcess(process.pid, performance.now()));
      }
      await sleep(this.options.sampleEveryMs);
    }
  }

  /** The defects counted by the metrics of each instance. */
  private async unhandledErrors(): Promise<string[]> {
    const found: string[] = [];
    for (const { process } of this.fleet.instances) {
      const metrics = await (await fetch(`${process.baseUrl}/metrics`)).text();
      found.push(...metrics.split('\n').filter((line) => /event="(unhandled_error|usage_event_rejected)"/.test(line)));
    }
    return found;
  }

  /** Each call that a provider saw has one event, of its user. */
  private async compare(): Promise<{ lost: string[]; unseen: number }> {
    const seen = new Map<string, number>();
    for (const marker of this.provider.seen) {
      const user = marker.split('-')[1] ?? '';
      seen.set(user, (seen.get(user) ?? 0) + 1);
    }
    const rows = await this.fleet.query<{ user_id: string; events: string }>(
      `SELECT user_id, count(*) AS events FROM usage_events
       WHERE app_id = $1 AND NOT starts_with(status, 'blocked_') GROUP BY user_id`,
      [this.traffic.appId],
    );
    const stored = new Map(rows.map(({ user_id, events }) => [user_id, Number(events)]));
    const lost: string[] = [];
    let unseen = 0;
    for (const user of new Set([...seen.keys(), ...stored.keys()])) {
      const difference = (stored.get(user) ?? 0) - (seen.get(user) ?? 0);
      if (difference < 0) lost.push(`${user}: ${-difference} calls without an event`);
      else unseen += difference;
    }
    return { lost, unseen };
  }
}
