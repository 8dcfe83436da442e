import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Retention } from '../../../src/retention/retention.service.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/deployment';
const INSTANT = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
});
afterAll(() => world.stop());

describe('GET /v1/admin/deployment', () => {
  it('an owner of the first account → instances, parts, settings without secrets', async () => {
    const { status, body, text } = await world.api.get(PATH);
    expect([status, body]).toEqual([
      200,
      {
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        node: process.versions.node,
        readiness: expect.objectContaining({ ready: true, database: 'ok', redis: 'unused' }),
        history: { since: INSTANT, slotSeconds: 900, parts: expect.any(Array) },
        instances: [
          {
            ...{ id: expect.any(String), current: true, host: expect.any(String), pid: process.pid },
            ...{ version: body.version, startedAt: INSTANT, redisAnswers: false, clockAheadMs: expect.any(Number) },
          },
        ],
        database: 'external',
        pendingEvents: 0,
        maintenance: null,
        prices: { source: 'built_in', date: null },
        settings: expect.arrayContaining([
          { name: 'DATABASE_URL', value: 'set' },
          { name: 'PUBLIC_URL', value: null },
          { name: 'WORKERS', value: '1' },
        ]),
      },
    ]);
    for (const name of ['DATABASE_URL', 'AUTH_SECRET', 'JWT_SECRET', 'BOOTSTRAP_MANAGEMENT_KEY']) {
      expect(text).not.toContain(world.environment[name]);
    }
  });

  it('after a run of the nightly work → its time and result; the next run replaces it', async () => {
    await world.gateway.app.get(Retention).run(new AbortController().signal);
    const first = (await world.api.get(PATH)).body.maintenance;
    expect(first).toEqual({ startedAt: INSTANT, endedAt: INSTANT, outcome: 'done' });
    expect(Date.parse(first.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.startedAt));
    await world.gateway.app.get(Retention).run(AbortSignal.abort());
    const second = (await world.api.get(PATH)).body.maintenance;
    expect(second.outcome).toBe('stopped');
    expect(Date.parse(second.startedAt)).toBeGreaterThan(Date.parse(first.startedAt));
  });

  it('an owner of another account, an admin of the first → 403', async () => {
    const { owner } = await newOrganization(world);
    const organizationId = await firstOrganizationId(world.dataSource);
    const admin = await newPerson(world, { organizationId, role: 'admin' });
    expect(codeOf(await owner.client.get(PATH))).toEqual([403, 'forbidden']);
    expect(codeOf(await admin.client.get(PATH))).toEqual([403, 'forbidden']);
  });
});
