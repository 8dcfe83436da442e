import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Post, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { IsInt, IsString, Max } from 'class-validator';
import { Text } from './fields.js';
import { requireDeclaredMembers } from './undeclared-members.js';

class Declared {
  @Text({ max: 10 })
  name!: string;
}

class Inheriting extends Declared {
  @Max(3)
  @IsInt()
  count!: number;
}

class Plain {
  @IsString()
  label!: string;
}

@Controller('declared')
class DeclaredController {
  @Post()
  add(@Body() _body: Declared, _text: string): void {}
}

@Controller('plain')
class PlainController {
  @Post()
  add(@Body() _body: Inheriting): void {}

  @Post('other')
  other(@Body() _body: Plain): void {}
}

async function appOf(...controllers: Type[]) {
  const testing = await Test.createTestingModule({ imports: [DiscoveryModule], controllers }).compile();
  return testing.createNestApplication(new FastifyAdapter());
}

describe('members of request classes', () => {
  it('declared fields → accepted', async () => {
    const app = await appOf(DeclaredController);
    expect(() => requireDeclaredMembers(app)).not.toThrow();
  });

  it('plain class-validator decorators → the start fails and names each member and its replacement', async () => {
    const app = await appOf(DeclaredController, PlainController);
    expect(() => requireDeclaredMembers(app)).toThrow(
      'Members with class-validator decorators: Inheriting.count, Plain.label. ' +
        'Declare them with @Text, @Int and others of src/common/fields/fields.ts.',
    );
  });
});
