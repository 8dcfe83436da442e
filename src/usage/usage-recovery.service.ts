import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Log } from '../common/log/log.js';
import { backoffMs } from '../platform/database/backoff.rules.js';
import type { RecoveredEvent } from '../platform/journal/journal-recovery.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { parseEventFields } from './event/event-fields.rules.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { storeEvents } from './store-events.js';
import { UsageIncidents } from './usage-incidents.service.js';

/** Brings home what processes that died had written down, before this one takes calls (threats 9.1). */
@Injectable()
export class UsageRecovery implements OnModuleInit {
  constructor(
    private readonly journal: UsageJournal,
    private readonly events: UsageWritesRepository,
    private readonly incidents: UsageIncidents,
    private readonly log: Log,
  ) {}

  /** Before the service listens. Returns once every event found is stored; waits for Postgres as long as that takes. */
  async onModuleInit(): Promise<void> {
    await this.journal.open();
    const summary = await this.journal.recover((events) => this.store(events));
    if (summary.files > 0) this.log.event('usage_journal_recovered', { ...summary });
  }

  private async store(events: readonly RecoveredEvent[]): Promise<void> {
    const added = new Set<string>();
    const texts = events.map((event) => event.json);
    const insert = async (json: string) => {
      for (const id of await this.events.insertNew(json)) added.add(id);
    };
    const reject = (event: string, error: unknown) => this.incidents.rejected(event, error);
    for (let failures = 1; ; failures++) {
      try {
        await storeEvents(texts, { insert, reject });
        break;
      } catch (error) {
        this.incidents.writeFailed(error);
        await sleep(backoffMs(failures));
      }
    }
    for (const { json, interrupted } of events) {
      // The others were settled and stored before the process died; only their settlement's file is gone.
      if (interrupted && added.has(parseEventFields(json).eventId)) this.incidents.interrupted(json);
    }
  }
}
