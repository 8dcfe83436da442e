import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CanActivate, Controller, Get, Module } from '@nestjs/common';
import { ReportsModule } from '../../../examples/extension/reports.module.js';
import { AccessModule } from '../../../src/accounts/access/access.module.js';
import { ManagementAccess } from '../../../src/accounts/access/admin-access.decorator.js';
import { Access } from '../../../src/common/http/access.js';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { newPerson } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { startWorld, type World } from '../../support/world.js';

const EXPORT = '/v1/admin/reports/apps/export';
const STAFF = '/v1/admin/reports/staff';

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ imports: [ReportsModule] });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

async function newStaff(email: string, isVerified: boolean) {
  const person = await newPerson(world, { organizationId, role: 'member', email });
  await world.dataSource.query('UPDATE identities SET email_verified = $2 WHERE id = $1', [
    person.identityId,
    isVerified,
  ]);
  return person.client;
}

describe('a route of an extension (docs/extending.md)', () => {
  it('its operations → in the OpenAPI document, with credential and refusals', async () => {
    const { body } = await world.as(undefined).get('/openapi.json');
    const { get } = body.paths['/v1/admin/apps/{app}/report'];
    expect(get).toMatchObject({ operationId: 'getAppReport', tags: ['Reports'] });
    expect(get.security).toEqual(expect.arrayContaining([{ ManagementBearer: [] }]));
    expect(Object.keys(get.responses)).toEqual(expect.arrayContaining(['200', '401', '403', '404']));
  });

  it('no credential, or a wrong one → 401 in our envelope', async () => {
    for (const client of [world.as(undefined), world.as('gw_mgmt_nobody')]) {
      expect(codeOf(await client.get('/v1/admin/reports/apps'))).toEqual([401, 'auth_required']);
    }
  });

  it('two accounts → each sees only its own applications', async () => {
    const { id } = await world.app();
    const other = world.as((await newAccount(world.dataSource)).key);
    expect((await world.api.get('/v1/admin/reports/apps')).body).toEqual({ apps: 1 });
    expect((await other.get('/v1/admin/reports/apps')).body).toEqual({ apps: 0 });
    expect((await world.api.get(`/v1/admin/apps/${id}/report`)).body).toEqual({ app_id: id, revision: 1 });
    expect(codeOf(await other.get(`/v1/admin/apps/${id}/report`))).toEqual([404, 'app_not_found']);
  });

  it('a route without an access decorator → the service refuses to start and names the route', async () => {
    @Controller('v1/admin')
    class OpenController {
      @Get('reports/open')
      open(): string {
        return 'everything';
      }
    }
    @Module({ controllers: [OpenController] })
    class OpenModule {}
    const started = startWorld({ imports: [OpenModule] });
    expect(await rejectionOf(started)).toMatchObject({
      message: 'Routes without an access declaration: GET /v1/admin/reports/open',
    });
  });

  it('a declaration without its guards → the service refuses to start and names the route', async () => {
    @Controller('v1/admin')
    class DeclaredController {
      @Get('reports/declared')
      @Access({ scheme: 'management', needs: 'write' })
      declared(): string {
        return 'everything';
      }
    }
    @Module({ controllers: [DeclaredController] })
    class DeclaredModule {}
    const started = startWorld({ imports: [DeclaredModule] });
    expect(await rejectionOf(started)).toMatchObject({
      message: expect.stringContaining('access they declare: GET /v1/admin/reports/declared'),
    });
  });
});

describe('a role rule of an extension (docs/extending.md)', () => {
  it('only owners may export → an owner can, with an audit entry; others cannot', async () => {
    const account = await newAccount(world.dataSource);
    const owner = world.as(account.key);
    const refused: [Parameters<typeof newMember>[2], string][] = [
      [{ role: 'admin' }, 'forbidden'],
      [{ role: 'member' }, 'forbidden'],
      [{ role: 'owner', grant: 'read' }, 'grant_insufficient'],
    ];
    for (const [member, code] of refused) {
      const { key } = await newMember(world.dataSource, account.organizationId, member);
      expect(codeOf(await world.as(key).post(EXPORT))).toEqual([403, code]);
    }
    expect(await auditEntries(world, account.organizationId)).toEqual([]);
    expect(await owner.post(EXPORT)).toMatchObject({ status: 201, body: { apps: 0 } });
    expect(await auditEntries(world, account.organizationId)).toMatchObject([
      { action: 'report.exported', actor_id: account.identityId, target_id: 'apps', details: { apps: 0 } },
    ]);
  });

  it('a custom guard → admits only verified people of the company', async () => {
    const staff = await newStaff('Ann@Acme.Example', true);
    expect(await staff.get(STAFF)).toMatchObject({ status: 200 });
    const strangers = [
      await newStaff('bob@acme.example', false),
      await newStaff('eve@acme.example.com', true),
      await newStaff('eve@not-acme.example', true),
    ];
    for (const client of [...strangers, world.api]) {
      expect(codeOf(await client.get(STAFF))).toEqual([403, 'forbidden']);
    }
    expect(world.logs).toContainEqual(expect.objectContaining({ reason: 'not_staff' }));
  });

  it('a guard that answers false → 403 in our envelope', async () => {
    class NoGuard implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }
    @Controller('v1/admin')
    class ClosedController {
      @Get('reports/closed')
      @ManagementAccess({ scheme: 'management', needs: 'read' }, NoGuard)
      closed(): string {
        return 'nothing';
      }
    }
    @Module({ imports: [AccessModule], controllers: [ClosedController] })
    class ClosedModule {}
    const other = await startWorld({ imports: [ClosedModule] });
    try {
      expect(codeOf(await other.api.get('/v1/admin/reports/closed'))).toEqual([403, 'forbidden']);
    } finally {
      await other.stop();
    }
  });

  it('the guard → runs after authentication, never before', async () => {
    expect(codeOf(await world.as(undefined).get(STAFF))).toEqual([401, 'auth_required']);
  });
});
