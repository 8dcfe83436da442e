import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MANAGEMENT_KEY_SOURCES } from '../../../src/accounts/management-keys/management-keys.repository.js';
import { Retention } from '../../../src/retention/retention.service.js';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const [OVER, KEPT] = ['2025-02-28T23:59:59.999Z', '2025-03-01T00:00:00Z'];
const LONG_AGO = '2020-01-01T00:00:00Z';

let world: World;
let organizationId: string;
let owner: Person;

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(Date.parse('2025-05-30T03:17:00Z')) });
});
afterAll(() => world.stop());

interface StoredKey {
  readonly name: string;
  readonly identityId?: string;
  readonly source?: (typeof MANAGEMENT_KEY_SOURCES)[number];
  readonly expiresAt?: string | null;
  readonly revokedAt?: string | null;
}

async function newAccount(): Promise<void> {
  ({ organizationId, owner } = await newOrganization(world));
}

/** Keys of the account that were created years ago. */
async function stored(keys: readonly StoredKey[]): Promise<void> {
  for (const { name, identityId = owner.identityId, source = 'console', expiresAt = null, revokedAt = null } of keys) {
    await world.dataSource.query(
      `INSERT INTO management_keys (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source,
         client_id, created_at, expires_at, revoked_at)
       VALUES ($1 || $2, $1, $3, $2, CASE WHEN $4 <> 'oauth' THEN $1 || $2 END, 'hint', 'read', $4,
         CASE WHEN $4 = 'oauth' THEN 'client' END, $5, $6, $7)`,
      [organizationId, name, identityId, source, LONG_AGO, expiresAt, revokedAt],
    );
  }
}

/** @returns the number of keys that the nightly job deleted. */
async function night(signal = new AbortController().signal): Promise<unknown> {
  const from = world.logs.length;
  await world.gateway.app.get(Retention, { strict: false }).run(signal);
  return world.logs.slice(from).find(({ message }) => message === 'management_keys_pruned')?.keys;
}

/** Names of the keys that the console shows. */
async function listed(): Promise<string[]> {
  const { body } = await owner.client.get('/v1/admin/keys');
  return body.keys.map(({ name }: { name: string }) => name).sort();
}

describe('revoked management keys', () => {
  it('revoked before the retention period → deleted, whichever client created them; later ones stay', async () => {
    await newAccount();
    await stored(MANAGEMENT_KEY_SOURCES.map((source) => ({ name: `over ${source}`, source, revokedAt: OVER })));
    await stored(MANAGEMENT_KEY_SOURCES.map((source) => ({ name: `kept ${source}`, source, revokedAt: KEPT })));
    expect(await night()).toBe(MANAGEMENT_KEY_SOURCES.length);
    expect(await listed()).toEqual(['kept bootstrap', 'kept cli', 'kept console', 'kept oauth']);
    expect(await night()).toBe(0);
  });

  it('never revoked → kept at any age, even if expired or of a person who left', async () => {
    await newAccount();
    const { identityId } = await newPerson(world, {});
    await stored([
      { name: 'old' },
      { name: 'past its end', expiresAt: LONG_AGO },
      { name: 'of somebody else', identityId },
    ]);
    expect(await night()).toBe(0);
    expect(await listed()).toEqual(['of somebody else', 'old', 'past its end']);
  });

  it('a connection whose last tokens expired before the retention period → deleted; a later one stays', async () => {
    await newAccount();
    await stored([
      { name: 'over', source: 'oauth', expiresAt: OVER },
      { name: 'kept', source: 'oauth', expiresAt: KEPT },
    ]);
    expect(await night()).toBe(1);
    expect(await listed()).toEqual(['kept']);
  });

  it('more rows than one statement deletes → all are deleted; asked to stop → none', async () => {
    await newAccount();
    await world.dataSource.query(
      `INSERT INTO management_keys (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source,
         created_at, revoked_at)
       SELECT $1 || n, $1, $2, 'One of many', $1 || n, 'hint', 'read', 'console', $3, $4 FROM generate_series(1, 5001) n`,
      [organizationId, owner.identityId, LONG_AGO, OVER],
    );
    expect(await night(AbortSignal.abort())).toBe(0);
    expect(await listed()).toHaveLength(5_001);
    expect(await night()).toBe(5_001);
    expect(await listed()).toEqual([]);
  });
});
