import { describe, expect, it } from '@jest/globals';
import { AdminCredentialGuard, AdminRoleGuard, PersonGuard } from '../accounts/access/admin.guard.js';
import { OwnAppGuard } from '../app-directory/own-app.guard.js';
import type { AccessDeclaration } from '../common/http/access.js';
import { requireGuards } from './route-guards.rules.js';

const ADMIN = [AdminCredentialGuard, AdminRoleGuard];

function validate(access: AccessDeclaration, guards: readonly unknown[]): () => void {
  return () => requireGuards([{ route: 'GET /v1/things', access, guards }]);
}

describe('requireGuards', () => {
  it.each<[AccessDeclaration, readonly unknown[]]>([
    [{ scheme: 'public' }, []],
    [{ scheme: 'person' }, [PersonGuard]],
    [{ scheme: 'management', needs: 'read' }, ADMIN],
    [{ scheme: 'management', needs: 'read', ownApp: true }, [...ADMIN, OwnAppGuard]],
  ])('%j with its guards → accepted', (access, guards) => {
    expect(validate(access, guards)).not.toThrow();
  });

  it.each<[AccessDeclaration, readonly unknown[]]>([
    [{ scheme: 'management', needs: 'write' }, []],
    [{ scheme: 'management', needs: 'write' }, [AdminCredentialGuard]],
    [{ scheme: 'management', needs: 'write' }, [AdminRoleGuard, PersonGuard]],
    [{ scheme: 'management', needs: 'read', ownApp: true }, ADMIN],
    [{ scheme: 'caller' }, ADMIN],
    [{ scheme: 'metrics' }, []],
    [{ scheme: 'person' }, []],
  ])('%j without one of them → refused by name', (access, guards) => {
    expect(validate(access, guards)).toThrow(
      'Routes without the guards of the access they declare: GET /v1/things. Use the access decorators.',
    );
  });
});
