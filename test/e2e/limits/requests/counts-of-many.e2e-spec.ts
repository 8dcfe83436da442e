import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../../../src/common/log/secret.js';
import { LimitEpochsRepository } from '../../../../src/limits/requests/epochs/limit-epochs.repository.js';
import { StoredCountsRepository } from '../../../../src/limits/requests/stored/stored-counts.repository.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { UsageRepository } from '../../../../src/usage/recording/usage.repository.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';

const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2026, 10, 20, 12);
const TODAY_MS = NOON_MS - (NOON_MS % DAY_MS);

/** A row whose other columns are 0. */
const ADD_USER_DAY = `
  INSERT INTO usage_user_days SELECT (json_populate_record(NULL::usage_user_days, (zeros.row || $1::jsonb)::json)).*
  FROM (SELECT jsonb_object_agg(attname, 0) AS row FROM pg_attribute
    WHERE attrelid = 'usage_user_days'::regclass AND attnum > 0 AND NOT attisdropped) zeros`;

let url: string;
let db: DataSource;
let apps = 0;
let appId: string;

beforeAll(async () => {
  url = await freshDatabase();
  const options = { applicationName: 'test', poolSize: 8, entities: [], migrations: [] };
  db = await createDataSource({ url: new Secret(url), ...options }).initialize();
});

beforeEach(() => {
  appId = `app-${++apps}`;
});

afterAll(async () => {
  await db.destroy();
  await dropDatabase(url);
});

it('requests of users on days → in order, 0 for users without any, refused ones excluded', async () => {
  const add = (userId: string, day: string, requests: number, blocked: number) =>
    db.query(ADD_USER_DAY, [
      JSON.stringify({ organization_id: 'org', app_id: appId, user_id: userId, day, requests, blocked }),
    ]);
  await add('ann', '2026-11-20', 7, 2);
  await add('ann', '2026-11-19', 3, 0);
  await add('ben', '2026-11-20', 1, 1);
  const asked = [
    { userId: 'ben', day: '2026-11-20' },
    { userId: 'nobody', day: '2026-11-20' },
    { userId: 'ann', day: '2026-11-19' },
    { userId: 'ann', day: '2026-11-20' },
    { userId: 'ann', day: '2026-11-20' },
  ].map((one) => ({ organizationId: 'org', appId, ...one }));
  expect(await new UsageRepository(db).countRequestsOfUsersOn(asked)).toEqual([0, 0, 3, 5, 5]);
  const strangers = asked.map((one) => ({ ...one, organizationId: 'other' }));
  expect(await new UsageRepository(db).countRequestsOfUsersOn(strangers)).toEqual([0, 0, 0, 0, 0]);
});

it('stored counts of days → in order, 0 if missing', async () => {
  const counts = new StoredCountsRepository(db);
  const of = (userId: string, windowStartMs: number, requests: number) => ({
    ...{ appId, userId, windowMs: DAY_MS, windowStartMs, requests },
  });
  await counts.add([of('ann', TODAY_MS, 5), of('ben', TODAY_MS - DAY_MS, 6)]);
  const asked = [
    { appId, userId: 'ben', dayStartMs: TODAY_MS },
    { appId, userId: 'ben', dayStartMs: TODAY_MS - DAY_MS },
    { appId, userId: 'ann', dayStartMs: TODAY_MS },
  ];
  expect(await counts.findDays(asked)).toEqual([0, 6, 5]);
});

it('base counts of an epoch → the first caller decides, even twice in one statement; a later epoch decides again', async () => {
  const epochs = new LimitEpochsRepository(db);
  const of = (userId: string, requests: number) => ({ appId, userId, windowStartMs: TODAY_MS, requests });
  expect(await epochs.agreeOnDays(3, [of('ben', 4), of('ann', 9), of('ann', 7)])).toEqual([4, 7, 7]);
  expect(await epochs.agreeOnDays(3, [of('ann', 20), of('cid', 1), of('ben', 2)])).toEqual([7, 1, 4]);
  expect(await epochs.agreeOnDays(4, [of('ann', 20), of('ben', 2)])).toEqual([20, 4]);
});

it('instances that agree on the same users at once, in any order → all get the same base counts, no deadlock', async () => {
  const epochs = new LimitEpochsRepository(db);
  const users = Array.from({ length: 200 }, (_, at) => `user-${at}`);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, instance) => {
      const shuffled = users.toSorted(() => Math.random() - 0.5);
      const asked = shuffled.map((userId) => ({ appId, userId, windowStartMs: TODAY_MS, requests: instance }));
      const bases = await epochs.agreeOnDays(1, asked);
      return new Map(shuffled.map((userId, at) => [userId, bases[at]]));
    }),
  );
  for (const userId of users) expect(new Set(answers.map((bases) => bases.get(userId))).size).toBe(1);
});
