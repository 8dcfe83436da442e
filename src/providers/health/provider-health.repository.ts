import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Instant, instantOf } from '../../common/clock.js';
import { ProviderHealthEntity } from './provider-health.entity.js';
import type { FailingReason, HealthSlot, ProviderHealthState } from './provider-health.rules.js';

/** A provider and what is stored of its calls. */
export interface WatchedProvider {
  readonly id: string;
  readonly organizationId: string;
  readonly slug: string;
  readonly name: string;
  readonly state: ProviderHealthState;
}

interface WatchedRow extends Omit<WatchedProvider, 'state'> {
  readonly failingReason: FailingReason | null;
  readonly failingSince: Instant | null;
  readonly goodInARow: number;
  readonly slots: readonly HealthSlot[];
}

/** A provider that is deleted meanwhile has no row. */
const BEGIN = `
  INSERT INTO provider_health (provider_id, good_in_a_row, slots)
  SELECT id, 0, '[]' FROM providers WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE
  ON CONFLICT (provider_id) DO NOTHING`;

const LOCK = `
  SELECT provider.id, provider.organization_id AS "organizationId", provider.slug, provider.name,
    health.failing_reason AS "failingReason", health.failing_since AS "failingSince",
    health.good_in_a_row AS "goodInARow", health.slots
  FROM provider_health health JOIN providers provider ON provider.id = health.provider_id
  WHERE health.provider_id = ANY ($1) ORDER BY health.provider_id FOR NO KEY UPDATE OF health`;

/** The table provider_health; its ids are those of calls, of any account. */
@Injectable()
export class ProviderHealthRepository {
  /** Locks what is stored of providers; instances wait for each other in one order. */
  async lock(tx: EntityManager, ids: readonly string[]): Promise<WatchedProvider[]> {
    await tx.query(BEGIN, [ids]);
    const rows = await tx.query<WatchedRow[]>(LOCK, [ids]);
    return rows.map(({ id, organizationId, slug, name, failingReason, failingSince, goodInARow, slots }) => {
      const failingSinceMs = failingSince?.getTime() ?? null;
      return { id, organizationId, slug, name, state: { failingReason, failingSinceMs, goodInARow, slots } };
    });
  }

  async store(tx: EntityManager, states: ReadonlyMap<string, ProviderHealthState>): Promise<void> {
    const rows = [...states].map(([providerId, { failingReason, failingSinceMs, goodInARow, slots }]) => {
      const failingSince = failingSinceMs === null ? null : instantOf(failingSinceMs);
      return { providerId, failingReason, failingSince, goodInARow, slots };
    });
    await tx.upsert(ProviderHealthEntity, rows, ['providerId']);
  }
}
