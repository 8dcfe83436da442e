import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rawIssuer } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

const TRUSTED = [
  '127.0.0.1',
  '169.254.169.254',
  '169.254.0.0/16',
  '0.0.0.0/1',
  '128.0.0.0/1',
  '::/1',
  '8000::/1',
  'metadata.google.internal',
  'instance-data',
];

const SPELLINGS = [
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254',
  'http://169.254.169.254.',
  'http://2852039166',
  'http://0xa9fea9fe',
  'http://0251.0376.0251.0376',
  'http://169.254.43518',
  'http://[::ffff:169.254.169.254]',
  'http://[64:ff9b::a9fe:a9fe]',
  'http://[2002:a9fe:a9fe::]',
  'http://[fd00:ec2::254]',
  'http://metadata.google.internal/computeMetadata/v1',
  'http://METADATA.google.internal.',
  'http://metadata%2egoogle.internal',
  'http://instance-data',
  'http://100.100.100.200',
  'http://192.0.0.192',
  'http://169.254.170.2/v2/credentials',
];

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { TRUSTED_PRIVATE_HOSTS: TRUSTED.join(',') } });
});

afterAll(() => world.stop());

beforeEach(async () => {
  await world.dataSource.query('DELETE FROM providers');
});

const PROVIDER = { type: 'openai', name: 'Somewhere', secret: 'sk-metadata-1234567' };

describe('cloud metadata addresses that an operator trusts by mistake', () => {
  it('at the start → one log line says which entries have no effect', () => {
    expect(world.logs.filter(({ message }) => message === 'trusted_hosts_without_effect')).toMatchObject([
      { level: 'warn', entries: '169.254.169.254, 169.254.0.0/16, metadata.google.internal, instance-data' },
    ]);
  });

  it.each(SPELLINGS)(
    '%s → 400 as a base URL of a new provider, a test and a change; nothing is stored',
    async (baseUrl) => {
      const { provider } = (await world.api.post('/v1/admin/providers', { ...PROVIDER, slug: 'kept' })).body;
      const answers = [
        await world.api.post('/v1/admin/providers', { ...PROVIDER, baseUrl }),
        await world.api.post('/v1/admin/providers/test', { type: 'openai', secret: PROVIDER.secret, baseUrl }),
        await world.api.put(`/v1/admin/providers/${provider.id}`, { baseUrl, secret: PROVIDER.secret }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.error.code]).toEqual([400, 'invalid_request']);
        expect(body.error.message).toMatch(/^baseUrl: /);
      }
      expect((await world.api.get('/v1/admin/providers')).body.providers).toEqual([provider]);
    },
  );

  it.each(SPELLINGS)('%s → 400 as the key set of an issuer', async (jwks_url) => {
    const authentication = { type: 'api_key', end_user: { source: 'issuer', issuer: { ...rawIssuer(), jwks_url } } };
    const answer = await world.api.post('/v1/admin/apps', {
      name: 'Issued',
      config: { authentication, routing: { providers: { mode: 'all' }, model_rewrites: {} } },
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain('jwks_url: ');
  });
});
