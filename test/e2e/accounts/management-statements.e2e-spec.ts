import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type CallHandler, type ExecutionContext, Injectable, Module, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import pg from 'pg';
import type { Observable } from 'rxjs';
import { listRouteAccess } from '../../../src/common/http/access.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import { startWorld, type World } from '../../support/world.js';

/** The queries of one request; background queries of the service are not counted. */
interface Questions {
  asked: number;
  /** When every guard had let the request through. */
  beforeHandler?: number;
}

const questions = new AsyncLocalStorage<Questions>();

/** Global interceptors run after the guards, and before everything of the route's own. */
@Injectable()
class HandlerBegins implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const store = questions.getStore();
    if (store !== undefined) store.beforeHandler = store.asked;
    return next.handle();
  }
}

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: HandlerBegins }] })
class CountingModule {}

let world: World;
let appId: string;
let latest: Questions;
let restore: () => void;

beforeAll(async () => {
  world = await startWorld({ imports: [CountingModule] });
  appId = (await world.app()).id;
});

afterAll(() => world.stop());

beforeEach(() => {
  const { query } = pg.Client.prototype;
  const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...of: never[]) {
    const store = questions.getStore();
    if (store !== undefined) store.asked++;
    return Reflect.apply(query, this, of);
  } as typeof query);
  const mark = () => {
    latest = { asked: 0 };
    questions.enterWith(latest);
  };
  const server = world.gateway.app.getHttpServer().prependListener('request', mark);
  restore = () => {
    server.off('request', mark);
    spy.mockRestore();
  };
});

afterEach(() => restore());

/** GET routes of management that such a credential may call. */
function reads(other: 'session' | 'key') {
  return listRouteAccess(world.gateway.app)
    .filter(({ route, access }) => route.startsWith('GET ') && access.scheme === 'management')
    .filter(({ access }) => access.credential !== other)
    .map(({ route, access }) => ({
      path: route.slice('GET '.length).replace(':app', appId).replaceAll(/:\w+/g, 'nobody'),
      most: access.ownApp ? 2 : 1,
    }));
}

describe('database statements of an authentication', () => {
  it('a key on any GET → one query, and one more to check the owner of an application', async () => {
    const routes = reads('session');
    expect(routes.length).toBeGreaterThan(15);
    for (const { path, most } of routes) {
      await world.api.get(path);
      expect([path, latest.beforeHandler]).toEqual([path, most]);
    }
    await world.api.get('/v1/admin/providers');
    expect(latest.asked).toBeGreaterThan(1);
  });

  it('a session on any GET → the same', async () => {
    const organizationId = await firstOrganizationId(world.dataSource);
    const { client } = await newPerson(world, { organizationId });
    for (const { path, most } of reads('key')) {
      await client.get(path);
      expect([path, latest.beforeHandler]).toEqual([path, most]);
    }
  });
});
