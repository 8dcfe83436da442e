import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthEventWriter } from '../../../../src/client-auth/events/auth-event-writer.service.js';
import { ProvingFleet, sorted } from '../../../proof/enforcement/proving-fleet.js';
import { newOrganization } from '../../../support/accounts/people.js';
import { keyAttestation } from '../../../support/client-auth/devices/android.js';
import { BUNDLE_ID, TEAM_ID } from '../../../support/client-auth/devices/phone.js';
import { anAuthEvent, recordAuthEvents } from '../../../support/client-auth/exchange/auth-events.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const DEVICES = Number(process.env.DEVICES ?? 40);
const SEED = Number(process.env.DEVICE_SEED ?? 20_261_129);
const DAY_MS = 86_400_000;
const APPLE = { team_id: TEAM_ID, bundle_id: BUNDLE_ID };
const clock = new FakeClock();
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

type Members = Readonly<Record<string, unknown>>;

const proving = (proofs: Members, members: Members = {}) => ({
  ...{ type: 'device_proofs', end_user: { source: 'app_install' }, proofs },
  ...members,
});

async function previewOf(app: { id: string }, body: Members = {}) {
  await world.gateway.app.get(AuthEventWriter, { strict: false }).flush();
  return world.api.post(`/v1/admin/apps/${app.id}/enforcement-preview`, body);
}

async function recorded(app: { id: string }, drafts: readonly Partial<Parameters<typeof anAuthEvent>[0]>[]) {
  const [{ organizationId }] = await world.dataSource.query(
    'SELECT organization_id AS "organizationId" FROM apps WHERE id = $1',
    [app.id],
  );
  const ofApp = { organizationId, appId: app.id };
  await recordAuthEvents(
    world.gateway,
    drafts.map((draft) => anAuthEvent({ createdAt: new Date(clock.nowMs()), ...ofApp, ...draft })),
  );
}

describe('preview of enforcement', () => {
  it(
    'known genuine and fake devices, first lax, then strict → exactly the attempts that enforcement then refuses',
    async () => {
      const lax = proving({
        app_attest: { ...APPLE, environments: ['production', 'development'], mode: 'observe' },
        key_attestation: keyAttestation({ mode: 'observe' }),
      });
      const strict = proving(
        {
          app_attest: { ...APPLE, allowed_categories: [4], min_bundle_version: '2.10' },
          key_attestation: keyAttestation({ min_os_patch: 202_511, min_version_code: 42 }),
        },
        { min_app_version: '3.1' },
      );
      const app = await world.app({ authentication: lax });
      const fleet = new ProvingFleet(world, app.id, DEVICES, SEED);
      await fleet.attempts();
      const { body } = await previewOf(app, { authentication: strict });
      expect(body.attempts).toBe(fleet.made);
      await changeApp(world, app, { config: { authentication: strict } });
      const lastId = await fleet.lastId();
      await fleet.attempts();
      await world.gateway.app.get(AuthEventWriter, { strict: false }).flush();
      const refused = await fleet.refusedAfter(lastId);
      expect(sorted(body.by)).toEqual(sorted(refused));
      expect(body.would_reject).toBe(refused.reduce((sum, { attempts }) => sum + attempts, 0));
      expect(body.would_reject).toBeGreaterThan(0);
      expect(body.would_reject).toBeLessThan(body.attempts);
    },
    60_000 + DEVICES * 400,
  );

  it('without a configuration → the stored one, enforced; attempts that it admits are not reported', async () => {
    const proofs = { key_attestation: keyAttestation({ mode: 'tier' }) };
    const app = await world.app({ authentication: proving(proofs) });
    const phone = world.androidPhone(app);
    await phone.register();
    await phone.exchange();
    await world.androidPhone(app).exchange();
    const { status, body } = await previewOf(app);
    expect([status, body]).toEqual([
      200,
      {
        ...{ attempts: 3, would_reject: 1 },
        by: [
          { proof: 'key_attestation', reason: 'key_unknown', day: expect.any(String), app_version: null, attempts: 1 },
        ],
      },
    ]);
    const { body: lax } = await previewOf(app, { authentication: proving(proofs) });
    expect(lax).toEqual({ attempts: 3, would_reject: 0, users: 0, by: [] });
  });

  it('days, users and versions → counted separately; refused attempts and those of earlier days are not counted', async () => {
    const app = await world.app({ authentication: proving({ key_attestation: keyAttestation({ mode: 'observe' }) }) });
    const failed = {
      proof: 'key_attestation',
      authMethod: 'unproven',
      outcome: 'would_reject',
      reason: 'key_unknown',
    } as const;
    const at = (days: number) => ({ createdAt: new Date(clock.nowMs() - days * DAY_MS) });
    await recorded(app, [
      ...[
        { ...failed, userId: 'ada' },
        { ...failed, userId: 'ada' },
        { ...failed, userId: 'ben', appVersion: '2' },
      ],
      ...[
        { ...failed, ...at(29) },
        { ...failed, ...at(31) },
      ],
      ...[
        { outcome: 'attest_failed', reason: 'key_unknown', proof: 'key_attestation' as const },
        { authMethod: 'api_key' as const },
      ],
    ]);
    const { body } = await previewOf(app);
    expect(body).toMatchObject({ attempts: 4, would_reject: 4, users: 2 });
    expect(body.by.map(({ app_version, attempts }: Members) => [app_version, attempts])).toEqual([
      ...[[null, 2], expect.anything(), expect.anything()],
    ]);
    expect((await previewOf(app, { days: 1 })).body).toMatchObject({ attempts: 3, would_reject: 3 });
  });

  it('attempts without recorded facts → judged by what is known', async () => {
    const app = await world.app({ authentication: proving({ app_attest: APPLE }) });
    await recorded(app, [{ authMethod: 'attest', userId: 'install' }]);
    const strict = proving({ app_attest: { ...APPLE, require_signals: true } });
    expect((await previewOf(app, { authentication: strict })).body).toMatchObject({ attempts: 1, would_reject: 0 });
    const without = proving({ key_attestation: keyAttestation() });
    expect((await previewOf(app, { authentication: without })).body.by).toMatchObject([
      { proof: 'app_attest', reason: 'proof_not_configured' },
    ]);
  });

  it.each<[Members, string]>([
    [{ days: 0 }, 'days'],
    [{ days: 31 }, 'days'],
    [{ days: 1.5 }, 'days'],
    [{ authentication: 'strict' }, 'authentication'],
    [{ authentication: { type: 'api_key' } }, 'authentication.type: must be device_proofs'],
    [{ authentication: { type: 'device_proofs' } }, 'config.authentication'],
    [{ other: 1 }, 'other'],
  ])('%j → 400 that names it', async (sent, named) => {
    const app = await world.app({ authentication: proving({ app_attest: APPLE }) });
    const { status, body } = await previewOf(app, sent);
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(named),
    ]);
  });

  it('an application without device proofs → 400; of another account → 404', async () => {
    const server = await world.app();
    expect((await previewOf(server)).status).toBe(400);
    const phones = await world.deviceApp('app_install');
    expect((await previewOf(phones)).body).toMatchObject({ attempts: 0, would_reject: 0 });
    const { owner } = await newOrganization(world);
    expect((await owner.client.post(`/v1/admin/apps/${phones.id}/enforcement-preview`, {})).status).toBe(404);
  });
});

describe('the funnel of proofs', () => {
  it('attempts of each proof → by kind and outcome', async () => {
    const proofs = { app_attest: APPLE, key_attestation: keyAttestation({ mode: 'observe' }) };
    const app = await world.app({ authentication: proving(proofs) });
    const [apple, android] = [world.phone(app), world.androidPhone(app)];
    await apple.signIn();
    await apple.register({ environment: 'development' });
    await android.exchange();
    await world.gateway.app.get(AuthEventWriter, { strict: false }).flush();
    const { body } = await world.api.get(`/v1/admin/apps/${app.id}/auth-events/summary`);
    expect(body.proofs).toEqual([
      { proof: 'app_attest', event: 'register', ok: 1, would_reject: 0, refused: 1 },
      { proof: 'app_attest', event: 'token_exchange', ok: 1, would_reject: 0, refused: 0 },
      { proof: 'key_attestation', event: 'token_exchange', ok: 0, would_reject: 1, refused: 0 },
    ]);
  });
});
