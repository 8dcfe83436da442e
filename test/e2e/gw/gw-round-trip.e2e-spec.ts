import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newAccount } from '../../support/accounts/accounts.js';
import { Gw } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

const RUNS = 12;
const SECRETS = { GW_PROVIDER_SECRET_OPENAI: 'sk-of-openai-4711', GW_PROVIDER_SECRET_CLAUDE: 'sk-of-claude-4711' };
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** Any text, including text that YAML could mistake for another type. */
const TRAPS = [
  'null',
  'true',
  '~',
  '1e3',
  '0x10',
  '012',
  '- a',
  '# b',
  'a: b',
  '"q',
  "'q",
  '{',
  '[',
  '&x',
  '*x',
  '!t',
  '%',
  '@',
  '`',
  'é\u2028x',
  'a\nb',
  'a\tb',
  '2026-01-01',
];
const text = fc
  .oneof(fc.constantFrom(...TRAPS), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }))
  .filter(
    (value) => value.trim() !== '' && value.isWellFormed() && !value.includes('\0') && value.trim().length <= 100,
  );
const limit = fc.option(fc.integer({ min: 1, max: 1_000_000 }));
const limits = fc.record(
  {
    requests: fc.record({ per_minute: limit, per_day: limit }, { requiredKeys: [] }),
    spending: fc.record({ monthly_usd: fc.option(fc.integer({ min: 1, max: 1e9 }).map((cents) => cents / 100)) }),
  },
  { requiredKeys: [] },
);
const claim = fc.oneof(
  fc.record({ path: fc.array(text, { minLength: 1, maxLength: 3 }), contains: text }),
  fc.record({ path: text, equals: fc.oneof(text, fc.boolean(), fc.integer()) }),
);
const issuer = fc.record({
  ...{
    jwks_url: fc.constant('https://id.example.com/keys'),
    issuer: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
  },
  ...{
    audience: text,
    user_id_claim: fc.constantFrom('sub', 'uid'),
    required_claims: fc.array(claim, { maxLength: 3 }),
  },
  max_token_lifetime_seconds: fc.integer({ min: 300, max: 86_400 }),
});
const authentication = fc.oneof(
  fc.record({ type: fc.constant('api_key') }),
  fc.record({ type: fc.constant('api_key'), end_user: fc.constant({ source: 'header' }) }),
  fc.record({
    ...{ type: fc.constant('device_app_attest'), end_user: issuer.map((one) => ({ source: 'issuer', issuer: one })) },
    app_attest: fc.constant({ team_id: 'ABCDE12345', bundle_id: 'com.example.journal' }),
  }),
);
const routing = fc.oneof(
  fc.constant({ providers: { mode: 'all' }, model_rewrites: {} }),
  fc
    .record({ old: fc.constant('gpt-4.1'), 'gpt-4': fc.constant('gpt-4.1-mini') }, { requiredKeys: [] })
    .map((rewrites) => ({
      providers: {
        mode: 'selected',
        selected: {
          openai: { allowed_paths: ['v1/responses'], allowed_models: [] },
          claude: { allowed_paths: [], allowed_models: ['claude-sonnet-4-5'] },
        },
      },
      model_rewrites: rewrites,
    })),
);
const endpoint = fc.record({
  ...{
    provider: fc.constant('openai'),
    model: fc.constantFrom('gpt-4.1', 'gpt-4.1-mini'),
    api_style: fc.constant('responses'),
  },
  params: fc
    .dictionary(fc.constantFrom('metadata', 'instructions'), text, { maxKeys: 1 })
    .map((params) => ('metadata' in params ? { metadata: { note: params.metadata } } : params)),
});
const app = fc.record({
  ...{ name: text, isNamed: fc.boolean(), status: fc.constantFrom('active', 'disabled') },
  config: fc.record(
    {
      ...{ authentication, routing, limits: fc.record({ per_user: limits, per_app: limits }, { requiredKeys: [] }) },
      endpoints: fc.dictionary(fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/), endpoint, { maxKeys: 3 }),
      allowed_origins: fc.uniqueArray(fc.constantFrom('https://app.example.com', 'capacitor://localhost')),
    },
    { requiredKeys: ['authentication', 'routing'] },
  ),
});
const pricing = fc.option(
  fc.dictionary(
    fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/),
    fc.record({ input: fc.integer({ min: 0, max: 999 }), output: fc.integer({ min: 0, max: 999 }) }),
    { minKeys: 1, maxKeys: 3 },
  ),
  { nil: undefined },
);

const contentsOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')])
    .sort();

describe('export, then apply on an empty account', () => {
  it(
    'any accepted configuration → an account whose export is the same, and a plan without a difference',
    async () => {
      let accepted = 0;
      const property = fc.asyncProperty(
        fc.array(app, { minLength: 2, maxLength: 4 }),
        pricing,
        async (apps, prices) => {
          const [one, other] = [await newAccount(world.dataSource), await newAccount(world.dataSource)];
          const api = world.as(one.key);
          const openai = {
            type: 'openai',
            name: 'OpenAI',
            secret: 'sk-of-openai-4711',
            ...(prices && { pricing: prices }),
          };
          expect((await api.post('/v1/admin/providers', openai)).status).toBe(201);
          await api.post('/v1/admin/providers', {
            type: 'anthropic',
            slug: 'claude',
            name: 'Claude',
            secret: 'sk-of-claude-4711',
          });
          for (const [index, { isNamed, ...body }] of apps.entries()) {
            const made = await api.post('/v1/admin/apps', { ...body, ...(isNamed && { handle: `app-${index}` }) });
            accepted += made.status === 201 ? 1 : 0;
          }
          const gw = new Gw({ GW_URL: world.baseUrl, ...SECRETS });
          try {
            const [first, second] = [{ GW_MANAGEMENT_KEY: one.key }, { GW_MANAGEMENT_KEY: other.key }];
            expect((await gw.run('export one --json', '', first)).json).toMatchObject({ ok: true });
            expect((await gw.run('plan one --check --json', '', first)).json.result.changes).toEqual([]);
            expect((await gw.run('apply one --key-output keys --json', '', second)).json).toMatchObject({ ok: true });
            expect((await gw.run('export other --json', '', second)).json).toMatchObject({ ok: true });
            expect(contentsOf(join(gw.home, 'other'))).toEqual(contentsOf(join(gw.home, 'one')));
            expect((await gw.run('plan one --check --json', '', second)).exitCode).toBe(0);
          } finally {
            gw.remove();
          }
        },
      );
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
      expect(accepted).toBeGreaterThan(RUNS);
    },
    RUNS * 30_000,
  );
});
