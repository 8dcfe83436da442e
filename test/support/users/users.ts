import type { DataSource } from 'typeorm';
import type { AppRef } from '../../../src/app-directory/app.entity.js';

interface UsedMonth {
  /** UTC, `YYYY-MM`; of the last use when absent. */
  readonly month?: string;
  readonly requests?: number;
  readonly firstAt: string;
  readonly lastAt?: string;
}

/** Stores that a user used an application, as the store of usage does. */
export async function useApp(
  dataSource: DataSource,
  app: AppRef,
  userId: string,
  { firstAt, lastAt = firstAt, month = lastAt.slice(0, 7), requests = 1 }: UsedMonth,
): Promise<void> {
  await dataSource.query(
    `INSERT INTO usage_user_months AS known
     VALUES ($1, $2, $3, to_date($4, 'YYYY-MM'), $5, 10, 0, 0, 5, 2500000, 0, 0, $6, $7, ($7::timestamptz)::date, $5)
     ON CONFLICT (app_id, user_id, month) DO UPDATE SET requests = known.requests + excluded.requests,
       first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at)`,
    [app.organizationId, app.id, userId, month, requests, firstAt, lastAt],
  );
}

/** Registers an attestation key of a stored user. */
export async function addDeviceKey(
  dataSource: DataSource,
  app: AppRef,
  { userId, keyId, counter, usedAt }: { userId: string; keyId: string; counter: number; usedAt: string },
): Promise<void> {
  await dataSource.query(
    `INSERT INTO device_keys (organization_id, app_id, key_id, user_id, public_key, counter, environment, created_at, last_used_at)
     VALUES ($1, $2, $3, $4, 'key', $5, 'production', $6, $6)`,
    [app.organizationId, app.id, keyId, userId, counter, usedAt],
  );
}
