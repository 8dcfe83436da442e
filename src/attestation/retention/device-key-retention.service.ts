import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { DeviceKeyRetentionRepository } from './device-key-retention.repository.js';

/** Most keys one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets keys of devices that have not proven themselves for long; a device that comes back registers anew. */
@Injectable()
export class DeviceKeyRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'device_keys_pruned',
      failed: 'device_keys_prune_failed',
      run: async ({ connection, days, signal }) => ({ keys: await this.prune(connection, days.events, signal) }),
    },
  ];

  protected readonly atOnce: number = AT_ONCE;

  constructor(private readonly keys: DeviceKeyRetentionRepository) {}

  /** @param before UTC day, `YYYY-MM-DD`; keys used on it stay. @returns how many were deleted. */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.keys.deleteUnusedSince(connection, before, this.atOnce), signal);
  }
}
