import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { rawDeviceConfig, rawServerConfig } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

const APPS = '/v1/admin/apps';
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

const serverBody = (changes: Record<string, unknown> = {}) => ({
  name: 'Notes',
  config: rawServerConfig(),
  ...changes,
});

/** Whether the OpenAPI document's grammar of configurations accepts a value. */
async function grammar(): Promise<(config: unknown) => boolean> {
  const document: unknown = await (await fetch(`${world.baseUrl}/openapi.json`)).json();
  if (typeof document !== 'object' || document === null) throw new Error('no OpenAPI document');
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, 'api');
  const judge = ajv.compile({ $ref: 'api#/components/schemas/AppConfig' });
  return (config) => judge(config) === true;
}

describe('wrong types in a configuration', () => {
  type Path = readonly (string | number)[];

  /** Every place of a JSON value, by path. */
  function placesOf(value: unknown, path: Path = []): Path[] {
    if (typeof value !== 'object' || value === null) return [path];
    const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return [
      ...(path.length > 0 ? [path] : []),
      ...members.flatMap(([key, member]) => placesOf(member, [...path, key])),
    ];
  }

  function withValueAt(root: unknown, path: Path, value: unknown): unknown {
    const [key, ...rest] = path;
    if (key === undefined) return value;
    if (Array.isArray(root))
      return root.map((member, index) => (index === key ? withValueAt(member, rest, value) : member));
    const members: [string, unknown][] = Object.entries(root ?? {});
    return Object.fromEntries(
      members.map(([name, member]) => [name, name === key ? withValueAt(member, rest, value) : member]),
    );
  }

  const isFree = (path: Path) => path.includes('params') && path.at(-1) !== 'params';

  it.each([
    ['mobile', rawDeviceConfig()],
    ['server', rawServerConfig()],
  ])(
    '%s configuration: an unknown member in any object → 400 naming its path or its parent',
    async (_name, config) => {
      const isDocumented = await grammar();
      const places = placesOf(config).filter((path) => !isFree(path));
      expect(places.length).toBeGreaterThan(4);
      for (const path of places) {
        const broken = withValueAt(config, path, path.at(-1) === 'params' ? [] : { stranger: [true] });
        const { status, body } = await world.api.post(APPS, serverBody({ config: broken }));
        expect([path.join('.'), status, body.error?.code]).toEqual([path.join('.'), 400, 'invalid_request']);
        expect(body.error.message).toMatch(/^config\./);
        expect([path.join('.'), isDocumented(broken)]).toEqual([path.join('.'), false]);
        const place = `config.${path.join('.')}`;
        const named = body.error.message.split(': ')[0];
        expect(place.startsWith(named) || named.startsWith(place) || named.startsWith('config.endpoints')).toBe(true);
      }
    },
    60_000,
  );

  it('accepted and normalised configurations → as the OpenAPI document describes', async () => {
    const isDocumented = await grammar();
    for (const config of [rawDeviceConfig(), rawServerConfig()]) {
      const { body } = await world.api.post(APPS, serverBody({ config }));
      expect([isDocumented(config), isDocumented(body.app.config)]).toEqual([true, true]);
    }
  });

  it('member named __proto__ → 400, never a prototype', async () => {
    const raw = JSON.stringify(serverBody()).replace('"model_rewrites":{}', '"model_rewrites":{"__proto__":"gpt-4.1"}');
    const { status, body } = await world.api.post(APPS, undefined, {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(400);
    expect(body.error.message).toContain('__proto__');
  });

  it('params with prototype names → answered and stored as sent, without __proto__', async () => {
    const params = JSON.parse('{"constructor":{"prototype":[{"__proto__":1,"a":2}]},"__proto__":{"b":1}}');
    const endpoints = { e: { api_style: 'responses', provider: 'openai', model: 'gpt-4.1', params } };
    const config = { ...rawServerConfig(), endpoints };
    const created = await world.api.post(APPS, serverBody({ config }));
    expect(created.status).toBe(201);
    const read = await world.api.get(`${APPS}/${created.body.app.id}`);
    for (const { body } of [created, read]) {
      expect(JSON.stringify(body.app.config.endpoints.e.params)).toBe('{"constructor":{"prototype":[{"a":2}]}}');
    }
  });
});
