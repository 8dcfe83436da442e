import { createHash, randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { newManagementKey } from '../world.js';

interface MemberOptions {
  readonly role?: 'owner' | 'admin' | 'member';
  readonly grant?: 'read' | 'manage';
}

interface Member {
  readonly organizationId: string;
  readonly identityId: string;
  /** A working management key of this identity. */
  readonly key: string;
}

/** Another account, with an owner and their key. */
export async function newAccount(dataSource: DataSource): Promise<Member> {
  const organizationId = `account-${randomBytes(6).toString('hex')}`;
  await dataSource.query("INSERT INTO organizations (id, name, created_at) VALUES ($1, 'Other', now())", [
    organizationId,
  ]);
  return newMember(dataSource, organizationId, { role: 'owner' });
}

/** Another member of an account, with a key; by default one who may do everything an owner may. */
export async function newMember(
  dataSource: DataSource,
  organizationId: string,
  { role = 'owner', grant = 'manage' }: MemberOptions,
): Promise<Member> {
  const identityId = `service-${randomBytes(6).toString('hex')}`;
  const key = newManagementKey();
  await dataSource.query("INSERT INTO identities (id, kind, created_at) VALUES ($1, 'service', now())", [identityId]);
  await dataSource.query('INSERT INTO memberships VALUES ($1, $2, $3, now())', [organizationId, identityId, role]);
  await dataSource.query(
    `INSERT INTO management_keys
       (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source, created_at)
     VALUES ($1, $2, $3, 'Test key', $4, $5, $6, 'console', now())`,
    [
      `mkey_${randomBytes(6).toString('hex')}`,
      organizationId,
      identityId,
      createHash('sha256').update(key).digest('hex'),
      key.slice(-4),
      grant,
    ],
  );
  return { organizationId, identityId, key };
}

/** The one account a test world starts with. */
export async function firstOrganizationId(dataSource: DataSource): Promise<string> {
  const [row] = await dataSource.query<{ id: string }[]>('SELECT id FROM organizations ORDER BY created_at LIMIT 1');
  if (row === undefined) throw new Error('the world has no account');
  return row.id;
}
