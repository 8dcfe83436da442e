import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const WEEK_MS = 7 * 86_400_000;

const clock = new FakeClock();
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

describe('a wrong clock of the service → never counts as a failure of the device', () => {
  it.each([-1, 1, 5_000])('%i weeks off → 500 internal_error; corrected → the same device registers', async (weeks) => {
    const app = await world.deviceApp('app_install');
    const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
    clock.advance(weeks * WEEK_MS);
    const answer = await phone.register();
    clock.advance(-weeks * WEEK_MS);
    const reason = weeks === 5_000 ? 'attestation_root_not_in_force' : 'clocks_disagree';
    await trail.isRefused(answer, { event: 'register', status: 500, code: 'internal_error', reason });
    expect((await phone.register()).status).toBe(200);
  });
});
