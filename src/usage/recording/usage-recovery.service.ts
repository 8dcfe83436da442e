import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Budgets } from '../../budgets/budgets.service.js';
import { Log } from '../../common/log/log.js';
import { backoffMs } from '../../platform/database/retry-unreachable.js';
import type { RecoveredEvent } from '../../platform/journal/journal-recovery.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { arraysOfTexts } from './event/event-arrays.js';
import { eventDayOf, parseEventFields } from './event/usage-line.rules.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { SettledUsageRepository } from './settled-usage.repository.js';
import { storeEvents } from './store-events.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { firstEventDay } from './usage-range.rules.js';

const TOO_OLD = 'older than stored events are kept: it may have been stored and summed up, and would count twice';

/**
 * Stores the journaled events of dead processes before this process accepts calls.
 *
 * A journal may contain events that are stored already. Storing them again changes nothing while their rows exist.
 * After the retention of events a duplicate cannot be detected, so older events are set aside for the operator and not
 * counted. The database clock decides which days those are, because it also bounds what retention deletes.
 */
@Injectable()
export class UsageRecovery implements OnModuleInit {
  constructor(
    private readonly journal: UsageJournal,
    private readonly events: UsageWritesRepository,
    private readonly settled: SettledUsageRepository,
    private readonly budgets: Budgets,
    private readonly incidents: UsageIncidents,
    private readonly log: Log,
  ) {}

  /**
   * Runs before the server listens. Returns once every recovered event is stored; waits for Postgres without a time
   * limit.
   */
  async onModuleInit(): Promise<void> {
    await this.journal.open();
    const summary = await this.journal.recover(
      (events) => this.store(events),
      async (instanceId) => {
        await this.persist(() => this.budgets.dropInstanceGrants(instanceId));
        await this.persist(() => this.settled.recovered(instanceId));
      },
    );
    if (summary.files > 0) this.log.event('usage_journal_recovered', { ...summary });
  }

  private async store(events: readonly RecoveredEvent[]): Promise<void> {
    const added = new Set<string>();
    const rejected = new Set<string>();
    const reject = (event: string, error: unknown) => {
      this.incidents.rejected(event, error);
      rejected.add(event);
    };
    const insert = async (some: readonly string[]) => {
      for (const id of await this.events.insertNew(arraysOfTexts(some))) added.add(id);
    };
    const firstDay = firstEventDay(await this.persist(() => this.events.databaseDay()));
    for (const { json } of events) if ((eventDayOf(json) ?? firstDay) < firstDay) reject(json, TOO_OLD);
    const texts = events.map(({ json }) => json);
    await this.persist(() =>
      storeEvents(
        texts.filter((text) => !rejected.has(text)),
        { insert, reject },
      ),
    );
    for (const { json, interrupted } of events) {
      // The others were settled and stored before the process died; only the journal file of their settlement is gone.
      if (interrupted && added.has(parseEventFields(json).eventId)) this.incidents.interrupted(json);
    }
  }

  /** Retries with backoff until the work succeeds. */
  private async persist<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        this.incidents.writeFailed(error);
        await sleep(backoffMs(failures));
      }
    }
  }
}
