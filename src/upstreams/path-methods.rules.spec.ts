import { describe, expect, it } from '@jest/globals';
import { isModelList } from './api-style.rules.js';
import { methodsOfPath, PATH_METHODS, takesBody } from './path-policy.rules.js';
import { dialectOf } from './provider-dialect.js';
import { PROVIDER_TYPES } from './provider-types.js';

describe('methodsOfPath', () => {
  it.each(PROVIDER_TYPES)(
    '%s → GET alone on lists of models, GET and DELETE on objects, POST alone on their cancellation and on every other default path',
    (type) => {
      const { inferencePaths } = dialectOf(type);
      const objects = inferencePaths.filter((path) => path.includes('{object}'));
      const [lists, others] = [true, false].map((isList) =>
        inferencePaths.filter((path) => isModelList(path) === isList && !objects.includes(path)),
      );
      expect(objects.map((path) => [...methodsOfPath(path)])).toEqual(
        objects.map((path) => (path.endsWith('/cancel') ? ['POST'] : ['GET', 'DELETE'])),
      );
      expect(others?.map((path) => [...methodsOfPath(path)])).toEqual(others?.map(() => ['POST']));
      expect(lists?.map((path) => [...methodsOfPath(path)])).toEqual(lists?.map(() => ['GET']));
    },
  );

  it.each([
    'v1/models',
    'models',
    'openai/v1/models',
    'inference/v1/models',
    'v1beta/models',
    'v1alpha/models',
    'v1beta/openai/models',
    'v1/models/{model}',
    'v1beta/models/{model}',
    'v1/models/gpt-4.1',
  ])('%s lists models → GET only', (path) => {
    expect([...methodsOfPath(path)]).toEqual(['GET']);
  });

  it.each([
    'v1/models/{model}:generateContent',
    'v1beta/models/{model}:countTokens',
    'v1beta/models/imagen-4.0:predict',
    'models/{model}',
    'v1/models/{model}/x',
    'v1/models/',
    'x/v1/models',
    'v1/modelsx',
    'v1/files',
    'v1/key',
    'v1/responses/{model}',
    'v1/responses/{object}/cancel',
  ])('%s → POST only', (path) => {
    expect([...methodsOfPath(path)]).toEqual(['POST']);
  });
});

describe('takesBody', () => {
  it('GET and DELETE → no body', () => {
    expect(PATH_METHODS.filter((method) => !takesBody(method, 'v1/x'))).toEqual(['GET', 'DELETE']);
  });

  it.each([
    ['v1beta/interactions/{object}/cancel', false],
    ['v1/responses/{object}/cancel', false],
    ['v1/responses/{object}/cancel/x', true],
    ['v1/responses/{model}/cancel', true],
    ['v1/responses/cancel', true],
    ['v1/conversations/{object}/items', true],
  ])('POST %s → %p', (template, isTaken) => expect(takesBody('POST', template)).toBe(isTaken));
});
