import { Injectable } from '@nestjs/common';
import { type Instant, instantOf } from '../../common/clock.js';
import { BackgroundDataSource } from '../../platform/database/pools.js';
import type { HealthPart, HealthSlot } from './health-history.rules.js';

interface SlotRow {
  readonly slot_at: Instant;
  readonly part: HealthPart;
  readonly samples: number;
  readonly failing: number;
}

/** The table health_slots. It belongs to the deployment, not to an account. */
@Injectable()
export class HealthSlotsRepository {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /** Adds to the slots of all instances, and deletes those before `firstMs`. Slots come in the order of their key. */
  async add(slots: readonly HealthSlot[], firstMs: number): Promise<void> {
    await this.dataSource.query(
      `WITH expired AS (DELETE FROM health_slots WHERE slot_at < $5)
       INSERT INTO health_slots (slot_at, part, samples, failing)
       SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::integer[], $4::integer[])
       ON CONFLICT (slot_at, part) DO UPDATE SET samples = health_slots.samples + excluded.samples,
         failing = health_slots.failing + excluded.failing`,
      [
        ...[slots.map(({ slotAtMs }) => instantOf(slotAtMs)), slots.map(({ part }) => part)],
        ...[slots.map(({ samples }) => samples), slots.map(({ failing }) => failing), instantOf(firstMs)],
      ],
    );
  }

  async since(firstMs: number): Promise<HealthSlot[]> {
    const rows = await this.dataSource.query<SlotRow[]>(
      'SELECT slot_at, part, samples, failing FROM health_slots WHERE slot_at >= $1',
      [instantOf(firstMs)],
    );
    return rows.map(({ slot_at, ...slot }) => ({ ...slot, slotAtMs: slot_at.getTime() }));
  }
}
