import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Retention } from '../../../src/retention/retention.service.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { idempotencyPair, newCreation, rowsNamed, type TestCreation } from '../../support/idempotency/creations.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

type Sent = TestCreation & { readonly headers: Readonly<Record<string, string>>; readonly first: ApiAnswer };

const again = ({ path, body, headers }: Omit<Sent, 'first'>) => world.api.post(path, body, { headers });

async function sentOnce(kind: 'app_key' | 'provider_gateway'): Promise<Sent> {
  const creation = { ...(await newCreation(world, kind)), headers: idempotencyPair() };
  const first = await again(creation);
  expect(first.status).toBe(201);
  return { ...creation, first };
}

/** Makes a receipt this old. */
async function age({ first }: Sent, by: string): Promise<void> {
  await world.dataSource.query(
    `UPDATE creation_receipts SET created_at = created_at - $2::interval, sealed_until = sealed_until - $2::interval,
       expires_at = expires_at - $2::interval WHERE key_id = $1 OR provider_gateway_id = $1`,
    [first.body.id ?? first.body.gateway.id, by],
  );
}

/** @returns what the nightly job deleted. */
async function night(): Promise<unknown> {
  const from = world.logs.length;
  expect(await world.gateway.app.get(Retention, { strict: false }).run(new AbortController().signal)).toBe('done');
  return world.logs.slice(from).find(({ message }) => message === 'creation_receipts_pruned');
}

it('answers with keys: cleared after 15 minutes and not before; the created resource is still named, and not created again', async () => {
  const [shown, over] = [await sentOnce('app_key'), await sentOnce('app_key')];
  await age(shown, '14 minutes');
  await age(over, '15 minutes');
  expect(await night()).toMatchObject({ sealedAnswers: 1, receipts: 0 });
  expect((await again(shown)).text).toBe(shown.first.text);
  const late = await again(over);
  expect([late.status, late.body.error.code]).toEqual([410, 'resource_receipt_expired']);
  expect(late.body.error.data.keyId).toBe(over.first.body.id);
  expect(await rowsNamed(world, 'app_key', over.body.name)).toBe(1);
});

it('idempotency records: deleted after 90 days and not before; the same request then creates again', async () => {
  const [kept, over] = [await sentOnce('provider_gateway'), await sentOnce('provider_gateway')];
  await age(kept, '89 days 23 hours');
  await age(over, '90 days');
  expect(await night()).toMatchObject({ receipts: 1 });
  expect((await again(kept)).text).toBe(kept.first.text);
  const anew = await again(over);
  expect(anew.status).toBe(201);
  expect(anew.body.gateway.id).not.toBe(over.first.body.gateway.id);
});
