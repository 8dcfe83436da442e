import { describe, expect, it } from '@jest/globals';
import { isMapAt } from './tool-maps.rules.js';

const SCHEMA = {
  type: 'object',
  properties: { config: { $ref: '#/$defs/Config' }, free: { type: 'object', additionalProperties: true } },
  $defs: {
    Config: {
      type: 'object',
      properties: {
        endpoints: { type: 'object', additionalProperties: { oneOf: [{ $ref: '#/$defs/Endpoint' }] } },
        routes: { type: 'array', items: { $ref: '#/$defs/Endpoint' } },
      },
      additionalProperties: false,
    },
    Endpoint: { type: 'object', properties: { prices: { type: 'object', additionalProperties: { type: 'number' } } } },
  },
};

describe('isMapAt', () => {
  it.each([
    [['config', 'endpoints'], true],
    [['config', 'endpoints', 'any', 'prices'], true],
    [['config', 'routes', '0', 'prices'], true],
    [['free', 'schema', 'properties'], true],
    [[], false],
    [['config'], false],
    [['config', 'endpoints', 'any'], false],
    [['free'], false],
    [['config', 'constructor'], false],
    [['unknown', 'at', 'all'], false],
  ])('%j → %s', (path, isMap) => expect(isMapAt(SCHEMA, path)).toBe(isMap));
});
