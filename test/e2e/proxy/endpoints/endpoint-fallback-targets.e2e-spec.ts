import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ProviderDirectory } from '../../../../src/providers/provider-directory.js';
import { firstOrganizationId } from '../../../support/accounts/accounts.js';
import { eventually } from '../../../support/eventually.js';
import { type ChainTarget, EndpointChain, RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { openTarget, read, refusalOf } from '../../../support/proxy/proxy-client.js';
import { json, type Script, silence } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const OWN_MODEL = 'house-model';
const OWN_PRICE = { [OWN_MODEL]: { input: 1, output: 1 } };
const OWN_ERROR = '{"error":{"code":"busy","message":"No."}}';
const FAULT = json(503, OWN_ERROR);

let world: World;
let chain: EndpointChain;

beforeAll(async () => {
  world = await startWorld({ env: { PROVIDER_TTFB_TIMEOUT_SECONDS: '2', ABORT_DRAIN_SECONDS: '1' } });
});

afterEach(() => chain.stop());

afterAll(() => world.stop());

async function chained(...targets: ChainTarget[]): Promise<EndpointChain> {
  chain = await EndpointChain.create(world, targets);
  return chain;
}

const failing: ChainTarget = { script: FAULT };
const serving = (id: string): ChainTarget => ({ script: json(200, { ...RESPONSE, id }) });
const priced = (id: string): ChainTarget => ({ ...serving(id), model: OWN_MODEL, provider: { pricing: OWN_PRICE } });

/** Changes of a target's provider, or of its availability. */
const CHANGES: [string, (target: number) => Promise<unknown>, code: string][] = [
  ['deleted', (target) => chain.delete(target), 'provider_not_configured'],
  ['disabled', (target) => chain.change(target, { status: 'disabled' }), 'provider_disabled'],
  ['unpriced', (target) => chain.change(target, { pricing: null }), 'pricing_not_configured'],
  ['with a key that cannot be read', spoilKey, 'provider_unavailable'],
];

async function spoilKey(target: number): Promise<void> {
  await world.dataSource.query('UPDATE providers SET secret_blob = $1 WHERE id = $2', ['x', chain.providerIds[target]]);
  await chain.change(target, { name: 'Spoiled' });
}

/** Whether a target's provider can be used, as known to the service. */
async function isActive(target: number): Promise<boolean> {
  const directory = world.gateway.app.get(ProviderDirectory);
  const providers = await directory.forOrganization(await firstOrganizationId(world.dataSource));
  return providers.find(chain.slugs[target] ?? '')?.status === 'active';
}

/** Accepts a request and holds it until told to fail. */
function failingOnCue(): { script: Script; fail: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const script: Script = async (exchange) => {
    await exchange.body();
    await promise;
    await FAULT(exchange);
  };
  return { script, fail: resolve };
}

describe('targets that cannot be used', () => {
  it.each(CHANGES)('a fallback that is %s → skipped, the next one serves', async (_name, change) => {
    await chained(failing, priced('second'), serving('third'));
    await change(1);
    const answer = await chain.call();
    expect([answer.status, JSON.parse(answer.body.toString()).id]).toEqual([200, 'third']);
    expect(chain.asked).toEqual([1, 0, 1]);
    expect((await chain.attempts())?.map(({ provider_slug }) => provider_slug)).toEqual([
      chain.slugs[0],
      chain.slugs[2],
    ]);
  });

  it.each(CHANGES)(
    'the only fallback is %s → the primary is the last target: its own error, unchanged',
    async (_name, change) => {
      await chained(failing, priced('second'));
      await change(1);
      const answer = await chain.call();
      expect([answer.status, answer.body.toString()]).toEqual([503, OWN_ERROR]);
      expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[0], status: 'provider_error' }]);
    },
  );

  it.each(CHANGES)(
    'a primary that is %s → refused, no target is called, no event of a call',
    async (_name, change, code) => {
      await chained(priced('first'), serving('second'));
      await change(0);
      expect(refusalOf(await chain.call())).toEqual([code === 'pricing_not_configured' ? 400 : 502, code]);
      expect(chain.asked).toEqual([0, 0]);
      expect(await chain.client.events(0)).toEqual([]);
      expect(chain.client.lines('gateway_error')).toHaveLength(1);
    },
  );
});

describe('repeated attempts', () => {
  it('the same provider and model twice in a chain → called once', async () => {
    await chained(failing, serving('second'));
    const [slug, backup] = chain.slugs;
    const target = { provider: slug, model: 'gpt-4.1' };
    const endpoint = {
      api_style: 'responses',
      ...target,
      fallback: [target, { provider: backup, model: 'gpt-4.1' }, target],
    };
    const app = await world.app({ endpoints: { twice: endpoint } });
    const answer = await world.as(app.key).post(`/v1/apps/${app.id}/endpoints/twice`, { input: 'Hi' });
    expect([answer.status, answer.body.id]).toEqual([200, 'second']);
    expect(chain.asked).toEqual([1, 1]);
  });

  it('the same provider with another model → another attempt', async () => {
    await chained(failing);
    const [provider] = chain.slugs;
    const fallback = [{ provider, model: 'gpt-4.1-mini' }];
    const app = await world.app({
      endpoints: { two: { api_style: 'responses', provider, model: 'gpt-4.1', fallback } },
    });
    const credential = ['authorization', `Bearer ${app.key}`];
    const call = openTarget(world, `/v1/apps/${app.id}/endpoints/two`, { credential, body: { input: 'Hi' } });
    expect((await read(await call.head)).status).toBe(503);
    const models = chain.upstreams[0]?.requests.map(({ body }) => JSON.parse(body.toString()).model);
    expect(models).toEqual(['gpt-4.1', 'gpt-4.1-mini']);
  });

  it('a connection that breaks during the request → not sent again to the same target', async () => {
    await chained({ script: ({ socket }) => void socket.destroy() }, serving('second'));
    await chain.call();
    await chain.call();
    expect(chain.asked).toEqual([2, 2]);
  });
});

describe('requests to each target', () => {
  it('rule 5: two providers of one type → each with its own key and model, and no data of the other', async () => {
    await chained(failing, { ...serving('second'), model: 'gpt-4.1-mini' });
    await chain.call({ body: { input: 'Hi', model: 'of-the-client' } });
    const sent = chain.upstreams.map(({ requests: [request] }) => [
      request?.path,
      request?.header('authorization'),
      request?.body.toString(),
    ]);
    expect(sent).toEqual([
      ['/v1/responses', 'Bearer sk-of-target-0', '{"input":"Hi","model":"gpt-4.1"}'],
      ['/v1/responses', 'Bearer sk-of-target-1', '{"input":"Hi","model":"gpt-4.1-mini"}'],
    ]);
    expect(chain.upstreams[1]?.requests[0]?.rawHeaders.join()).not.toContain('sk-of-target-0');
  });

  it('a transcription from the first family to the second → each with its path and model, the file in both', async () => {
    const transcribing: ChainTarget = { model: 'grok-transcribe', provider: { type: 'xai' }, ...serving('second') };
    chain = await EndpointChain.create(world, [{ ...failing, model: 'whisper-1' }, transcribing], {
      api_style: 'transcription',
    });
    const answer = await chain.call({
      headers: ['content-type', 'multipart/form-data; boundary=b'],
      body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n',
    });
    expect(answer.status).toBe(200);
    const [first, second] = chain.upstreams.map(({ requests }) => requests[0]);
    expect([first?.path, second?.path]).toEqual(['/v1/audio/transcriptions', '/v1/stt']);
    for (const [request, model] of [
      [first, 'whisper-1'],
      [second, 'grok-transcribe'],
    ] as const) {
      const boundary = /boundary=(.+)$/.exec(request?.header('content-type') ?? '')?.[1];
      const form = request?.body.toString() ?? '';
      expect(request?.header('content-length')).toBe(String(request?.body.length));
      expect(form).toContain(`name="model"\r\n\r\n${model}\r\n--${boundary}`);
      expect(form).toContain(`name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--${boundary}`);
    }
  });
});

describe('configuration that changes while the primary is awaited', () => {
  it.each(CHANGES.slice(0, 2))(
    'the next target is %s meanwhile → skipped, the one after it serves',
    async (_name, change) => {
      const { script, fail } = failingOnCue();
      await chained({ script }, serving('second'), serving('third'));
      const call = chain.call();
      await chain.isAsked(0);
      await change(1);
      await eventually(async () => !(await isActive(1)), { withinMs: 10_000 });
      fail();
      expect(JSON.parse((await call).body.toString()).id).toBe('third');
      expect(chain.asked).toEqual([1, 0, 1]);
    },
  );

  it.each(CHANGES.slice(0, 2))(
    'the only fallback is %s while the primary hangs → 504, no fallback is called',
    async (_name, change) => {
      await chained({ script: silence() }, serving('second'));
      const call = chain.call();
      await chain.isAsked(0);
      await change(1);
      expect(refusalOf(await call)).toEqual([504, 'provider_error']);
      expect(chain.asked).toEqual([1, 0]);
    },
  );

  it('the application is disabled meanwhile → the admitted call continues along its chain', async () => {
    const { script, fail } = failingOnCue();
    await chained({ script }, serving('second'));
    const call = chain.call();
    await chain.isAsked(0);
    const path = `/v1/admin/apps/${chain.client.appId}`;
    const { app } = (await world.api.get(path)).body;
    const { name, config, revision } = app;
    expect((await world.api.put(path, { name, config, revision, status: 'disabled' })).status).toBe(200);
    await eventually(async () => refusalOf(await chain.call())[1] === 'app_disabled', { withinMs: 10_000 });
    fail();
    expect((await call).status).toBe(200);
  });
});
