import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const clock = new FakeClock();
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

/** Challenges of an application that expired a moment ago. */
async function expire(appId: string, count: number): Promise<void> {
  await world.dataSource.query(
    `INSERT INTO auth_challenges (challenge, app_id, expires_at)
     SELECT 'old-' || n, $1, now() - interval '1 second' FROM generate_series(1, $2::integer) AS n`,
    [appId, count],
  );
}

async function stored(appId: string): Promise<number> {
  const [row] = await world.dataSource.query<{ count: number }[]>(
    'SELECT count(*)::integer AS count FROM auth_challenges WHERE app_id = $1',
    [appId],
  );
  return row?.count ?? 0;
}

describe('challenges of an application that was deleted', () => {
  it('an instance without the notification → app_not_found as well', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    await phone.challenge();
    await world.dataSource.query('DELETE FROM apps WHERE id = $1', [app.id]);
    const answer = await phone.post('challenge', {});
    expect([answer.status, answer.body.error.code]).toEqual([404, 'app_not_found']);
  });
});

describe('expired challenges', () => {
  it('issuing further challenges → also deletes the expired ones, however many there are, and none that is valid', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    await phone.challenge();
    await expire(app.id, 4_500);
    clock.advance(10_000);
    for (const left of [2_502, 503, 4]) {
      await phone.challenge();
      expect(await stored(app.id)).toBe(left);
    }
    expect((await phone.register()).status).toBe(200);
  });

  it('between two deletions → issuing one writes one row', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    clock.advance(10_000);
    await phone.challenge();
    await expire(app.id, 3);
    await phone.challenge();
    expect(await stored(app.id)).toBe(5);
  });
});
