import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';

const MAX_BODY_BYTES = 256 * 1024;

let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld();
});

afterAll(() => world.stop());

/** A JSON object of exactly this many bytes, with as many members as fit. */
function bodyOf(bytes: number): Record<string, unknown> {
  const names = Array.from({ length: Math.floor((bytes - 100) / 9) }, (_, at) => at.toString(36).padStart(4, '0'));
  const body = { ...Object.fromEntries(names.map((name) => [name, 0])), rest: '' };
  return { ...body, rest: 'x'.repeat(bytes - JSON.stringify(body).length) };
}

describe('bodies of unauthenticated requests', () => {
  it.each(['challenge', 'register', 'token'])('%s: 256 KiB → read; a byte more → 413, no event', async (route) => {
    const app = await world.deviceApp('app_install');
    const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
    const read = await phone.post(route, bodyOf(MAX_BODY_BYTES));
    expect(read.status).toBe(route === 'challenge' ? 200 : 400);
    await trail.skip();
    await trail.isNoEvent(await phone.post(route, bodyOf(MAX_BODY_BYTES + 1)), 413, 'payload_too_large');
  });

  it('the longest allowed texts, every character escaped → validated', async () => {
    const app = await world.deviceApp('issuer');
    const phone = world.phone(app);
    const body = { issuer_token: '\\'.repeat(32 * 1024), attestation: '/'.repeat(64 * 1024), key_id: 'k' };
    const answer = await phone.post('register', { ...body, challenge: await phone.challenge() });
    expect([answer.status, answer.body.error.code]).toEqual([403, 'issuer_token_rejected']);
  });
});
