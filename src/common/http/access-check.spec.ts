import { describe, expect, it } from '@jest/globals';
import { All, Controller, Delete, Get, type INestApplication, Post, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Access, PublicAccess } from './access.js';
import { listRouteAccess } from './access-check.js';

@Controller('v1/things')
class ThingsController {
  @Get(':id')
  @PublicAccess()
  find(): string {
    return this.notARoute();
  }

  @Post(['', 'import/'])
  @Access({ scheme: 'management', needs: 'write' })
  create(): void {}

  notARoute(): string {
    return 'plain method';
  }
}

@Controller('v1/calls')
@Access({ scheme: 'caller' })
class CallsController {
  @All('*')
  forward(): void {}

  @Delete()
  @Access({ scheme: 'management', needs: 'write', ownApp: true })
  remove(): void {}
}

@Controller()
class OpenController {
  @Get('forgotten')
  forgotten(): void {}

  @Post(['also/forgotten', 'twice'])
  alsoForgotten(): void {}
}

async function appOf(...controllers: Type[]): Promise<INestApplication> {
  const testing = await Test.createTestingModule({ imports: [DiscoveryModule], controllers }).compile();
  return testing.createNestApplication(new FastifyAdapter());
}

describe('access declarations (threats 7.2)', () => {
  it('declared routes → every path with its own access, sorted; a method beats its controller', async () => {
    expect(listRouteAccess(await appOf(ThingsController, CallsController))).toEqual([
      { route: 'ALL /v1/calls/*', access: { scheme: 'caller' } },
      { route: 'DELETE /v1/calls', access: { scheme: 'management', needs: 'write', ownApp: true } },
      { route: 'GET /v1/things/:id', access: { scheme: 'public' } },
      { route: 'POST /v1/things', access: { scheme: 'management', needs: 'write' } },
      { route: 'POST /v1/things/import', access: { scheme: 'management', needs: 'write' } },
    ]);
  });

  it('undeclared routes → refused, every one of them named', async () => {
    const app = await appOf(ThingsController, OpenController);
    expect(() => listRouteAccess(app)).toThrow(
      'Routes without an access declaration: GET /forgotten, POST /also/forgotten, POST /twice',
    );
  });
});
