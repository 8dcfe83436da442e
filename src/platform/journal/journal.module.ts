import { join, resolve } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../config/environment.js';
import { InstanceRegistry } from '../instances/instance-registry.js';
import { UsageJournal } from './usage-journal.js';

/**
 * The usage journal of this process, below `DATA_DIR`. Global, because usage, proxy, health and metrics inject it. The
 * module that writes to it opens it: generating documents must not touch the disk.
 *
 * Log lines: usage_journal_failed.
 */
@Global()
@Module({
  providers: [
    {
      provide: UsageJournal,
      inject: [Environment, Clock, InstanceRegistry, Log],
      useFactory: (environment: Environment, clock: Clock, instances: InstanceRegistry, log: Log) =>
        new UsageJournal({
          root: join(resolve(environment.DATA_DIR), 'journal'),
          instanceId: instances.id,
          syncMs: environment.JOURNAL_SYNC_MS,
          maxPending: environment.JOURNAL_MAX_PENDING,
          clock,
          log,
        }),
    },
  ],
  exports: [UsageJournal],
})
export class JournalModule {}
