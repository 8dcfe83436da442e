import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createOfflineGateway } from '../../src/bootstrap/offline-gateway.js';
import { type AccessDeclaration, listRouteAccess } from '../../src/common/http/access.js';

// A difference here is a change of permissions. Nothing rewrites the table: change it by hand, and say in the commit
// why the permission changes.
const TABLE = readFileSync(new URL('access-table.txt', import.meta.url), 'utf8');

/**
 * Callers of these routes may act on themselves; the service checks everything else: everybody may leave, and revoke
 * their own key.
 */
const OF_ONESELF = ['DELETE /v1/admin/members/:user', 'DELETE /v1/cli/credential', 'PUT /v1/admin/mail'];

let app: NestFastifyApplication;

beforeAll(async () => {
  app = await createOfflineGateway();
});

afterAll(() => app.close());

function line(
  route: string,
  { scheme, firstParty, exactOrigin, consoleHost, needs, role, credential, ownApp }: AccessDeclaration,
): string {
  const [method = '', path = ''] = route.split(' ');
  const only = credential === undefined ? undefined : `${credential} only`;
  const from = exactOrigin ? 'exact origin' : firstParty ? 'first party' : undefined;
  const host = consoleHost ? 'console host' : undefined;
  const words = [scheme, host, from, needs, role, only, ownApp ? 'own app' : undefined].filter(
    (word) => word !== undefined,
  );
  return `${method.padEnd(6)} ${path.padEnd(60)} ${words.join(', ')}`;
}

describe('access table', () => {
  it('every route → exactly the intended access', () => {
    const rows = listRouteAccess(app).map(({ route, access }) => line(route, access));
    expect(`${rows.join('\n')}\n`).toBe(TABLE);
  });

  it('a management route that names an application → checks its owner', () => {
    const routes = listRouteAccess(app).filter(({ route }) => route.includes('/v1/admin/apps/:'));
    expect(routes.filter(({ access }) => access.ownApp !== true)).toEqual([]);
  });

  it('a management route that is not a GET → requires write, unless it changes only the caller’s own data', () => {
    const readOnly = listRouteAccess(app)
      .filter(({ route, access }) => !route.startsWith('GET ') && access.scheme === 'management')
      .filter(({ access }) => access.needs !== 'write')
      .map(({ route }) => route);
    expect(readOnly.filter((route) => !/\/(validate|enforcement-preview)$/.test(route))).toEqual(OF_ONESELF);
  });
});
