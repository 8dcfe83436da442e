import { describe, expect, it } from '@jest/globals';
import { declaredPart } from './answer.rules.js';

const schemas = {
  Pet: { properties: { name: {}, toys: { items: { $ref: '#/components/schemas/Toy' } } } },
  Toy: { properties: { id: {} } },
  Cat: { properties: { purrs: {} } },
};
const kept = (value: unknown, schema: object) => declaredPart(value, schema, schemas);

describe('the declared part of an answer', () => {
  it('has only members that a schema declares, at any depth', () => {
    const value = { name: 'Rex', secret: 1, toys: [{ id: 1, price: 2 }] };
    expect(kept(value, { $ref: '#/components/schemas/Pet' })).toEqual({ name: 'Rex', toys: [{ id: 1 }] });
  });

  it('has the members of all alternatives', () => {
    const schema = { anyOf: [{ $ref: '#/components/schemas/Pet' }, { $ref: '#/components/schemas/Cat' }] };
    expect(kept({ name: 'Tom', purrs: true, secret: 1 }, schema)).toEqual({ name: 'Tom', purrs: true });
  });

  it('is all of an open object, of a plain value and of null', () => {
    expect(kept({ any: { thing: 1 } }, { additionalProperties: true })).toEqual({ any: { thing: 1 } });
    expect(kept(null, { $ref: '#/components/schemas/Pet' })).toBeNull();
    expect(kept('text', {})).toBe('text');
  });

  it('a member named __proto__ or constructor is dropped', () => {
    expect(kept(JSON.parse('{"__proto__": {"name": 1}, "constructor": 2, "name": 3}'), schemas.Pet)).toEqual({
      name: 3,
    });
  });
});
