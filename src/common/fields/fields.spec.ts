import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { Int, JsonObject, numericMembers, OneOf, Refused, Text, trimmedMembers, Verbatim } from './fields.js';

class Everything {
  @Text({ max: 5, description: 'A short name.' })
  name: unknown;

  @Text({ min: 2, max: 9, pattern: /^[a-z-]+$/, patternText: 'lower case letters', optional: true })
  slug: unknown;

  @Verbatim({ min: 3, max: 8, optional: true })
  apiKey: unknown;

  @Int({ min: 1, max: 200, optional: true })
  limit: unknown;

  @Int({ min: 0, missingCode: 'app_revision_required' })
  revision: unknown;

  @OneOf(['active', 'disabled'], { optional: true, nullable: true })
  status: unknown;

  @JsonObject({ optional: true })
  config: unknown;

  @Refused('is assigned by the service')
  id: unknown;
}

const RIGHT = { name: 'a', revision: 0 };

/** The problems as `member: text`; empty for a valid body. */
function problemsOf(members: Record<string, unknown>): string[] {
  const body = Object.assign(new Everything(), members);
  return validateSync(body).map(({ property, constraints }) => `${property}: ${Object.values(constraints ?? {})[0]}`);
}

describe('fields: what they accept', () => {
  it('only required members → valid', () => {
    expect(problemsOf(RIGHT)).toEqual([]);
  });

  it.each([
    [{ name: 'abcde', slug: 'a-b', apiKey: ' x ', limit: 200, status: 'active', config: {} }],
    [{ limit: 1, status: null, config: { any: [1] } }],
    [{ status: undefined, limit: undefined }],
    [{ revision: Number.MAX_SAFE_INTEGER }],
  ])('%j → valid', (members) => {
    expect(problemsOf({ ...RIGHT, ...members })).toEqual([]);
  });

  it.each([
    [{ name: undefined }, 'name: is required'],
    [{ name: null }, 'name: must be text of 1 to 5 characters'],
    [{ name: '' }, 'name: must be text of 1 to 5 characters'],
    [{ name: 'abcdef' }, 'name: must be text of 1 to 5 characters'],
    [{ name: 5 }, 'name: must be text of 1 to 5 characters'],
    [{ name: ['a'] }, 'name: must be text of 1 to 5 characters'],
    [{ name: 'a\u0000' }, 'name: must be text of 1 to 5 characters'],
    [{ slug: 'Ab' }, 'slug: must be lower case letters'],
    [{ slug: 'a' }, 'slug: must be lower case letters'],
    [{ slug: 'ab\n' }, 'slug: must be lower case letters'],
    [{ slug: null }, 'slug: must be lower case letters'],
    [{ apiKey: 'ab' }, 'apiKey: must be text of 3 to 8 characters'],
    [{ apiKey: 'abc\u0000' }, 'apiKey: must be text of 3 to 8 characters'],
    [{ apiKey: 12345 }, 'apiKey: must be text of 3 to 8 characters'],
    [{ limit: 0 }, 'limit: must be a whole number from 1 to 200'],
    [{ limit: 201 }, 'limit: must be a whole number from 1 to 200'],
    [{ limit: 1.5 }, 'limit: must be a whole number from 1 to 200'],
    [{ limit: '5' }, 'limit: must be a whole number from 1 to 200'],
    [{ limit: Number.NaN }, 'limit: must be a whole number from 1 to 200'],
    [{ revision: -1 }, 'revision: must be a whole number of at least 0'],
    [{ revision: 2 ** 53 }, 'revision: must be a whole number of at least 0'],
    [{ revision: null }, 'revision: must be a whole number of at least 0'],
    [{ status: 'Active' }, 'status: must be one of "active", "disabled"'],
    [{ status: 0 }, 'status: must be one of "active", "disabled"'],
    [{ config: [] }, 'config: must be an object'],
    [{ config: null }, 'config: must be an object'],
    [{ config: '{}' }, 'config: must be an object'],
    [{ id: 'a' }, 'id: is assigned by the service'],
    [{ id: null }, 'id: is assigned by the service'],
  ])('%j → %s', (members, problem) => {
    expect(problemsOf({ ...RIGHT, ...members })).toEqual([problem]);
  });

  it('any text → valid if and only if it is within its bounds and has no NUL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 8 }), (name) => {
        const right = name.length >= 1 && name.length <= 5 && !name.includes('\u0000');
        expect(problemsOf({ ...RIGHT, name }).length).toBe(right ? 0 : 1);
      }),
    );
  });

  it('a wrong value → never repeated in the message', () => {
    const secret = 'sk-live-very-private';
    expect(problemsOf({ name: secret, apiKey: secret, status: secret, revision: secret }).join()).not.toContain(secret);
  });
});

describe('fields: how they are read', () => {
  it('names of text and number members → listed per class, without other members', () => {
    expect([...trimmedMembers(Everything)]).toEqual(['name', 'slug']);
    expect([...numericMembers(Everything)]).toEqual(['limit', 'revision']);
    expect(trimmedMembers(class Other {}).size).toBe(0);
  });
});

describe('fields: their OpenAPI schema', () => {
  it('every field → its bounds, presence and description; refused members are left out', async () => {
    @Controller()
    class Controlled {
      @Post()
      post(@Body() _body: Everything): void {}
    }
    @Module({ controllers: [Controlled] })
    class Root {}
    const testing = await Test.createTestingModule({ imports: [Root] }).compile();
    const app = testing.createNestApplication(new FastifyAdapter());
    const { components } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(components?.schemas?.Everything).toEqual({
      type: 'object',
      required: ['name', 'revision'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 5, description: 'A short name.' },
        slug: { type: 'string', minLength: 2, maxLength: 9, pattern: '^[a-z-]+$' },
        apiKey: { type: 'string', minLength: 3, maxLength: 8 },
        limit: { type: 'integer', minimum: 1, maximum: 200 },
        revision: { type: 'integer', minimum: 0 },
        status: { type: 'string', enum: ['active', 'disabled'], nullable: true },
        config: { type: 'object', additionalProperties: true },
      },
    });
  });
});
