import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { BootstrapService } from '../../../src/accounts/access/bootstrap.service.js';
import { NewOrganizationsRepository } from '../../../src/accounts/access/new-organizations.repository.js';
import { NewOrganizations } from '../../../src/accounts/access/new-organizations.service.js';
import { AuditEventsRepository } from '../../../src/accounts/audit/audit-events.repository.js';
import { AuditTrail } from '../../../src/accounts/audit/audit-trail.js';
import { ManagementKeyUses } from '../../../src/accounts/management-keys/management-key-uses.js';
import { ManagementKeysRepository } from '../../../src/accounts/management-keys/management-keys.repository.js';
import { ManagementKeysService } from '../../../src/accounts/management-keys/management-keys.service.js';
import { SystemClock } from '../../../src/common/clock.js';
import { SystemIds } from '../../../src/common/ids.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ENTITIES } from '../../../src/entities.js';
import { loadEnvironment } from '../../../src/platform/config/environment.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { Outbox } from '../../../src/platform/outbox/outbox.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';

const KEY = `gw_mgmt_${'First0'.repeat(8)}`;
const OTHER_KEY = `gw_mgmt_${'Other0'.repeat(8)}`;
const clock = new SystemClock();
const ids = new SystemIds();

let url: string;
let source: DataSource;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  url = await freshDatabase();
  source = await createDataSource({
    url: new Secret(url),
    poolSize: 8,
    applicationName: 'identity-test',
    entities: ENTITIES,
    migrations: [],
  }).initialize();
  lines = [];
});

afterEach(async () => {
  await source.destroy();
  await dropDatabase(url);
});

function instance(key: string | undefined): BootstrapService {
  return new BootstrapService(
    source,
    new NewOrganizations(new NewOrganizationsRepository(source), auditTrail(), clock),
    managementKeys(),
    loadEnvironment({ BOOTSTRAP_MANAGEMENT_KEY: key }),
    ids,
    new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))),
  );
}

function events(): unknown[] {
  return lines.map(({ message, level, reason }) => [message, level, reason]);
}

function trail(): Promise<{ action: string }[]> {
  return source.query(
    `SELECT action, target_id, details, actor_id, actor_kind, credential_id, action_source FROM audit_events ORDER BY id`,
  );
}

function managementKeys(): ManagementKeysService {
  const keys = new ManagementKeysRepository(source);
  const uses = new ManagementKeyUses(keys, clock, new Log(clock, 'error', () => undefined));
  return new ManagementKeysService(source, keys, uses, auditTrail(), clock, ids);
}

function auditTrail(): AuditTrail {
  return new AuditTrail(new AuditEventsRepository(source), new Outbox(), clock, ids);
}

function authenticate(key: string) {
  return managementKeys().authenticate(new Secret(key), 'api');
}

describe('BOOTSTRAP_MANAGEMENT_KEY', () => {
  it('empty deployment → one account owned by a service identity, and the key manages it', async () => {
    expect(await instance(KEY).hasAnyOrganization()).toBe(false);
    await instance(KEY).run();
    const [organization] = await source.query<{ id: string; name: string; expires_at: null }[]>(
      'SELECT id, name, expires_at FROM organizations',
    );
    expect(organization).toEqual({ id: expect.stringMatching(/^private-/), name: 'My account', expires_at: null });
    expect(await authenticate(KEY)).toEqual({
      organizationId: organization?.id,
      identityId: `service-${organization?.id}`,
      role: 'owner',
      grant: 'manage',
      credentialType: 'apiKey',
      credentialId: expect.stringMatching(/^mkey_[0-9a-z]{20}$/),
      actor: {
        type: 'user',
        id: `service-${organization?.id}`,
        kind: 'service',
        credentialId: expect.stringMatching(/^mkey_/),
        actionSource: 'api',
      },
    });
    expect(lines).toEqual([
      expect.objectContaining({ message: 'bootstrap_account_created', organizationId: organization?.id }),
    ]);
    expect(await instance(KEY).hasAnyOrganization()).toBe(true);
    const bySystem = {
      actor_id: `service-${organization?.id}`,
      actor_kind: 'service',
      credential_id: null,
      action_source: 'system',
    };
    const [key] = await source.query<{ id: string }[]>('SELECT id FROM management_keys');
    expect(await trail()).toEqual([
      { action: 'organization.created', target_id: organization?.id, details: null, ...bySystem },
      {
        action: 'management_key.created',
        target_id: key?.id,
        details: { name: 'Bootstrap key', grant: 'manage', source: 'bootstrap' },
        ...bySystem,
      },
    ]);
  });

  it('stored → the hash and the last four characters, never the key', async () => {
    await instance(KEY).run();
    const [stored] = await source.query<Record<string, unknown>[]>('SELECT * FROM management_keys');
    expect(stored).toMatchObject({ token_hint: 'rst0', source: 'bootstrap', access_grant: 'manage', revoked_at: null });
    expect(stored?.token_hash).toMatch(/^[0-9a-f]{64}$/);
    const entries = await source.query('SELECT event::text FROM audit_events event');
    const told = JSON.stringify([stored, lines, entries]);
    expect(told).not.toContain(KEY.slice(8));
    expect(JSON.stringify(entries)).not.toContain(stored?.token_hash);
  });

  it('two instances at once → one account, the other accepts the same key without a log line', async () => {
    await Promise.all([1, 2, 3, 4].map(() => instance(KEY).run()));
    expect(await source.query('SELECT count(*)::int AS accounts FROM organizations')).toEqual([{ accounts: 1 }]);
    expect(events()).toEqual([['bootstrap_account_created', 'info', undefined]]);
    expect((await trail()).map(({ action }) => action)).toEqual(['organization.created', 'management_key.created']);
  });

  it('a person who opens the first account at the same time → the start waits, and theirs stays the only one', async () => {
    const person = source.createQueryRunner();
    await person.startTransaction();
    await person.query("INSERT INTO organizations (id, name, created_at) VALUES ('org_theirs', 'Theirs', now())");
    const start = instance(KEY).run();
    await untilStatementWaits(source);
    await person.commitTransaction();
    await person.release();
    await start;
    expect(await source.query('SELECT id FROM organizations')).toEqual([{ id: 'org_theirs' }]);
    expect(events()).toEqual([['bootstrap_key_ignored', 'warn', 'account_exists']]);
    expect(await authenticate(KEY)).toBeUndefined();
  });

  it('restart with the same key → no log line, and the key still works', async () => {
    await instance(KEY).run();
    lines = [];
    await instance(KEY).run();
    expect(lines).toEqual([]);
    expect(await authenticate(KEY)).toMatchObject({ role: 'owner' });
    expect(await trail()).toHaveLength(2);
  });

  it('another key once an account exists → ignored with one log line, and not valid', async () => {
    await instance(KEY).run();
    lines = [];
    await instance(OTHER_KEY).run();
    expect(events()).toEqual([['bootstrap_key_ignored', 'warn', 'account_exists']]);
    expect(await authenticate(OTHER_KEY)).toBeUndefined();
  });

  it('the same key after its revocation → stays revoked with one log line, even after its deletion', async () => {
    await instance(KEY).run();
    await source.query('UPDATE management_keys SET revoked_at = now()');
    lines = [];
    await instance(KEY).run();
    expect(events()).toEqual([['bootstrap_key_ignored', 'warn', 'key_revoked']]);
    expect(await authenticate(KEY)).toBeUndefined();
    await source.query('DELETE FROM management_keys');
    await instance(KEY).run();
    expect(events().at(-1)).toEqual(['bootstrap_key_ignored', 'warn', 'account_exists']);
    expect(await authenticate(KEY)).toBeUndefined();
  });

  it('unset → nothing is created or logged', async () => {
    await instance(undefined).run();
    expect(await instance(undefined).hasAnyOrganization()).toBe(false);
    expect(lines).toEqual([]);
  });

  it('a failure midway → nothing remains, and the next start succeeds', async () => {
    await source.query("ALTER TABLE management_keys ADD CONSTRAINT refuse_check CHECK (name = 'none')");
    await expect(instance(KEY).run()).rejects.toThrow();
    expect(await instance(KEY).hasAnyOrganization()).toBe(false);
    expect(await trail()).toEqual([]);
    await source.query('ALTER TABLE management_keys DROP CONSTRAINT refuse_check');
    await instance(KEY).run();
    expect(await authenticate(KEY)).toMatchObject({ role: 'owner' });
  });
});

describe('management key', () => {
  beforeEach(() => instance(KEY).run());

  it.each([
    ['revoked', 'UPDATE management_keys SET revoked_at = now()'],
    ['past its own end', "UPDATE management_keys SET expires_at = now() - interval '1 second'"],
    ['its owner left the account', 'DELETE FROM memberships'],
    ['its account expired', "UPDATE organizations SET expires_at = now() - interval '1 second'"],
    ['its account is gone', 'DELETE FROM organizations'],
  ])('%s → is refused from the next request on', async (_name, change) => {
    expect(await authenticate(KEY)).toBeDefined();
    await source.query(change);
    expect(await authenticate(KEY)).toBeUndefined();
  });

  it('role lowered → the next request has the new role', async () => {
    await source.query("UPDATE memberships SET role = 'member'");
    expect(await authenticate(KEY)).toMatchObject({ role: 'member', grant: 'manage' });
  });

  it('deadlines in the future → the key still works', async () => {
    await source.query("UPDATE organizations SET expires_at = now() + interval '1 hour'");
    await source.query("UPDATE management_keys SET expires_at = now() + interval '1 hour'");
    expect(await authenticate(KEY)).toMatchObject({ role: 'owner' });
  });

  it('one character more, fewer or in another case → a different key', async () => {
    const near = [KEY.slice(0, -1), `${KEY}0`, KEY.toLowerCase(), ` ${KEY}`];
    expect(await Promise.all(near.map(authenticate))).toEqual(near.map(() => undefined));
  });
});
