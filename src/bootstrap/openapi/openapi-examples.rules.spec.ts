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
  it('answers: every member, null where nothing may be → shown', () => {
    expect(maker('answer').of(THING)).toEqual({ name: 'A thing', size: 3, gone: null });
  });

  it('requests: what must be there, and what the schema is said to show → shown, nothing else', () => {
    expect(maker('request').of(THING)).toEqual({ name: 'A thing' });
    expect(maker('request', { Thing: { size: 7 } }).of(THING)).toEqual({ name: 'A thing', size: 7 });
  });

  it('a decorator’s own example → before any word', () => {
    expect(maker('answer').of({ type: 'string', example: 'mine' }, { member: 'name' })).toBe('mine');
  });

  it('lists, choices and parts → of their first or of all', () => {
    const box = { allOf: [{ $ref: '#/components/schemas/Box' }] };
    expect(maker('answer').of(box)).toEqual({ things: [{ name: 'A thing', size: 3, gone: null }] });
    expect(maker('answer').of({ anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] })).toBe('a');
  });

  it('text without an example → left out', () => {
    expect(maker('answer').of({ type: 'object', properties: { odd: { type: 'string' } } })).toEqual({});
  });

  it('a schema that is not there → an error that names it', () => {
    expect(() => maker('answer').of({ $ref: '#/components/schemas/None' })).toThrow('None');
  });
});
