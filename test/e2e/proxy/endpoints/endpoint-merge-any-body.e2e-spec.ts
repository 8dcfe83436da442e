import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

type Json = Record<string, unknown>;

/** Names without a policy: few, so that both sides overlap at every depth. */
const NAMES = ['input', 'text', 'é', 'a"\\', 'constructor', '__proto__'];
const ENDPOINTS = 50;
const BODIES_EACH = 4;

const name = fc.constantFrom(...NAMES);
const leaf = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1.5, -3e-7, '', [], [null], [{ a: [1] }]),
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
);

const objectOf = (levels: number): fc.Arbitrary<Json> => {
  const value: fc.Arbitrary<unknown> =
    levels === 0 ? leaf : fc.oneof(leaf, { weight: 2, arbitrary: objectOf(levels - 1) });
  return fc.array(fc.tuple(name, value), { maxLength: 6 }).map((entries) => Object.fromEntries(entries));
};

const bodies = fc.array(objectOf(2), { minLength: BODIES_EACH, maxLength: BODIES_EACH });

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const named = (members: Json) => Object.entries(members).filter(([key]) => key !== '__proto__');

/** Every member that the server names holds the server's value, and everything else is as the client sent it. */
function expectMerged(sent: unknown, client: unknown, server: Json): void {
  if (!isObject(sent)) throw new Error(`no object: ${JSON.stringify(sent)}`);
  const before = new Map(isObject(client) ? Object.entries(client) : []);
  const names = named(server).map(([key]) => key);
  expect(Object.keys(sent).sort()).toEqual([...new Set([...before.keys(), ...names])].sort());
  for (const [key, value] of Object.entries(sent)) {
    if (!names.includes(key)) expect(value).toEqual(before.get(key));
    else if (isObject(server[key])) expectMerged(value, before.get(key), server[key]);
    else expect(value).toEqual(server[key]);
  }
}

let world: World;

beforeAll(async () => {
  world = await startWorld();
  world.upstream.script(json(200, { id: 'resp_1', object: 'response' }));
});

afterAll(() => world.stop());

describe('any body over any endpoint', () => {
  it(
    'random params and bodies → members that the server sets have its value, all others are as sent',
    () =>
      fc.assert(
        fc.asyncProperty(objectOf(2), bodies, fc.boolean(), async (params, sentBodies, isCapped) => {
          const cap = isCapped ? { max_output_tokens: 64 } : {};
          const client = await EndpointClient.create(world, { endpoint: { params, ...cap } });
          for (const members of sentBodies) {
            const body = { ...members, model: 'of-the-client' };
            expectMerged(JSON.parse(await client.sent({ body })), body, { ...params, model: 'gpt-4.1', ...cap });
          }
        }),
        { numRuns: ENDPOINTS },
      ),
    60_000,
  );
});
