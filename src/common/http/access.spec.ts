import { describe, expect, it } from '@jest/globals';
import {
  All,
  type CanActivate,
  Controller,
  Delete,
  Get,
  type INestApplication,
  Post,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Access, listRouteAccess, PublicAccess } from './access.js';

class OneGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

class OtherGuard extends OneGuard {}

@Controller('v1/things')
class ThingsController {
  @Get(':id')
  @PublicAccess()
  find(): string {
    return this.notARoute();
  }

  @Post(['', 'import/'])
  @UseGuards(OneGuard)
  @Access({ scheme: 'management', needs: 'write' })
  create(): void {}

  notARoute(): string {
    return 'plain method';
  }
}

@Controller('v1/calls')
@UseGuards(OtherGuard)
@Access({ scheme: 'caller' })
class CallsController {
  @All('*')
  forward(): void {}

  @Delete()
  @UseGuards(OneGuard)
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

describe('access declarations', () => {
  it('declared routes → every path with its own access and guards, sorted; the access of a method overrides that of its controller', async () => {
    expect(listRouteAccess(await appOf(ThingsController, CallsController))).toEqual([
      { route: 'ALL /v1/calls/*', access: { scheme: 'caller' }, guards: [OtherGuard] },
      {
        route: 'DELETE /v1/calls',
        access: { scheme: 'management', needs: 'write', ownApp: true },
        guards: [OtherGuard, OneGuard],
      },
      { route: 'GET /v1/things/:id', access: { scheme: 'public' }, guards: [] },
      { route: 'POST /v1/things', access: { scheme: 'management', needs: 'write' }, guards: [OneGuard] },
      { route: 'POST /v1/things/import', access: { scheme: 'management', needs: 'write' }, guards: [OneGuard] },
    ]);
  });

  it('undeclared routes → refused, naming every one', async () => {
    const app = await appOf(ThingsController, OpenController);
    expect(() => listRouteAccess(app)).toThrow(
      'Routes without an access declaration: GET /forgotten, POST /also/forgotten, POST /twice',
    );
  });
});
