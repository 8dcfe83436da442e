import { describe, expect, it } from '@jest/globals';
import { ExampleMaker, type ExampleSchema } from './openapi-examples.rules.js';

const SCHEMAS: Readonly<Record<string, ExampleSchema>> = {
  Thing: {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'integer', minimum: 3 }, gone: { type: ['string', 'null'] } },
    required: ['name'],
  },
  Box: { type: 'object', properties: { things: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } } },
};

function maker(direction: 'request' | 'answer', members = {}): ExampleMaker {
  return new ExampleMaker({ schemas: SCHEMAS, words: { name: 'A thing' }, members }, direction);
}

const THING = { $ref: '#/components/schemas/Thing' };

describe('ExampleMaker', () => {
  it('answers: every member, nullable ones as null → shown', () => {
    expect(maker('answer').of(THING)).toEqual({ name: 'A thing', size: 3, gone: null });
  });

  it('requests: only required members, and those marked to be shown → shown', () => {
    expect(maker('request').of(THING)).toEqual({ name: 'A thing' });
    expect(maker('request', { Thing: { size: 7 } }).of(THING)).toEqual({ name: 'A thing', size: 7 });
  });

  it('a decorator’s own example → used before any default text', () => {
    expect(maker('answer').of({ type: 'string', example: 'mine' }, { member: 'name' })).toBe('mine');
  });

  it('lists, choices and parts → examples of the first choice, or of all parts', () => {
    const box = { allOf: [{ $ref: '#/components/schemas/Box' }] };
    expect(maker('answer').of(box)).toEqual({ things: [{ name: 'A thing', size: 3, gone: null }] });
    expect(maker('answer').of({ anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] })).toBe('a');
  });

  it('text without an example → left out', () => {
    expect(maker('answer').of({ type: 'object', properties: { odd: { type: 'string' } } })).toEqual({});
  });

  it('a missing schema → an error that names it', () => {
    expect(() => maker('answer').of({ $ref: '#/components/schemas/None' })).toThrow('None');
  });
});
