import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compilePathPolicy, defaultPathPolicy, isSafeUpstreamPath, matchPath } from './path-policy.rules.js';
import { PROVIDER_TYPES } from './provider-types.js';

const policyOf = (...paths: string[]) => compilePathPolicy(paths.map((path) => ({ path })));

describe('matchPath', () => {
  it('exact entry → matches these bytes only', () => {
    const policy = policyOf('v1/responses');
    expect(matchPath(policy, 'v1/responses')?.entry.path).toBe('v1/responses');
    for (const other of ['v1/Responses', 'v1/responses/', 'v1/respons%65s', 'v1/response', 'x/v1/responses']) {
      expect(matchPath(policy, other)).toBeUndefined();
    }
  });

  it('asterisk → a literal character', () => {
    expect(matchPath(policyOf('v1/*'), 'v1/models')).toBeUndefined();
    expect(matchPath(policyOf('v1/*'), 'v1/*')).toBeDefined();
  });

  it.each([
    ['v1/models/g-1:generateContent', 'g-1'],
    ['v1/models/g%20one%C3%A9:generateContent', 'g oneé'],
    ['v1/models/a:b:generateContent', 'a:b'],
  ])('model in %s → captured decoded as "%s"', (path, model) => {
    expect(matchPath(policyOf('v1/models/{model}:generateContent'), path)?.model).toBe(model);
  });

  it.each(['v1/models/:generateContent', 'v1/models/a/b:generateContent', 'v1/models/a:embedContent'])(
    '%s → the placeholder is one segment that is not empty',
    (path) => {
      expect(matchPath(policyOf('v1/models/{model}:generateContent'), path)).toBeUndefined();
    },
  );

  it('object in a path → captured decoded, and no model', () => {
    const policy = policyOf('v1beta/interactions/{object}', 'v1beta/interactions/{object}/cancel');
    expect(matchPath(policy, 'v1beta/interactions/int%5F1')).toMatchObject({ object: 'int_1' });
    expect(matchPath(policy, 'v1beta/interactions/int_1')).not.toHaveProperty('model');
    expect(matchPath(policy, 'v1beta/interactions/int_1/cancel')).toMatchObject({ object: 'int_1' });
    expect(matchPath(policy, 'v1beta/interactions/int_1/steps')).toBeUndefined();
    expect(() => matchPath(policy, 'v1beta/interactions/%zz')).toThrow('the object has a broken percent escape');
  });

  it('prefix and suffix that overlap in the path → no match', () => {
    expect(matchPath(policyOf('v1/aa{model}aa'), 'v1/aaa')).toBeUndefined();
  });

  it.each(['%zz', '%2', '%', '%ff', '%c0%ae'])('model with the invalid escape %s → invalid_request', (broken) => {
    expect(() => matchPath(policyOf('models/{model}'), `models/a${broken}`)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('several entries that match → the first in the list wins, exact or not', () => {
    const exactFirst = compilePathPolicy([{ path: 'm/a', fixedModel: 'one' }, { path: 'm/{model}' }, { path: 'm/a' }]);
    expect(matchPath(exactFirst, 'm/a')).toMatchObject({ entry: { path: 'm/a', fixedModel: 'one' } });
    const modelFirst = compilePathPolicy([{ path: 'm/{model}' }, { path: 'm/a', fixedModel: 'one' }]);
    expect(matchPath(modelFirst, 'm/a')).toMatchObject({ entry: { path: 'm/{model}' }, model: 'a' });
  });

  it('entry that leaves the base path → never matches, although listed', () => {
    expect(matchPath(policyOf('../v1/x', 'a//b'), '../v1/x')).toBeUndefined();
    expect(matchPath(policyOf('{model}'), '..')).toBeUndefined();
  });

  it('methods of an entry → replace those of the path; a second entry for the same path adds none', () => {
    const policy = compilePathPolicy([
      { path: 'v1/models' },
      { path: 'v1/files', methods: ['GET', 'POST'] },
      { path: 'v1/files', methods: ['DELETE'] },
      { path: 'v1/files/{model}', methods: ['DELETE'] },
      { path: 'v1/responses' },
    ]);
    const methodsOn = (path: string) => [...(matchPath(policy, path)?.methods ?? [])];
    expect(methodsOn('v1/models')).toEqual(['GET']);
    expect(methodsOn('v1/files')).toEqual(['GET', 'POST']);
    expect(methodsOn('v1/files/f1')).toEqual(['DELETE']);
    expect(methodsOn('v1/responses')).toEqual(['POST']);
  });

  it('exact Google path that contains a model → the model of the path, or the one that the entry fixes; never that of a body', () => {
    const exact = compilePathPolicy([
      { path: 'v1beta/models/g%20one:generateContent' },
      { path: 'v1/models/tuned:generateContent', fixedModel: 'g' },
    ]);
    expect(matchPath(exact, 'v1beta/models/g%20one:generateContent')).toMatchObject({
      model: 'g one',
      template: 'v1beta/models/{model}:generateContent',
    });
    expect(matchPath(exact, 'v1/models/tuned:generateContent')).toMatchObject({
      model: 'g',
      template: 'v1/models/tuned:generateContent',
    });
  });

  it('two placeholders → refused when compiled', () => {
    for (const path of ['{model}/{model}', '{object}/{object}', '{model}/{object}'])
      expect(() => policyOf(path)).toThrow('0.path: must have {model} or {object} only once');
  });

  it('any path → a match is always a safe path', () => {
    const policy = policyOf('{model}', 'a/{model}', '{model}/b', 'x{model}y');
    const piece = fc.constantFrom(
      'a',
      'b',
      '/',
      '.',
      '..',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '\\',
      '%252e',
      '?',
      '#',
      'é',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const path = pieces.join('');
        const match = matchPath(policy, path);
        if (match !== undefined) {
          expect(isSafeUpstreamPath(path)).toBe(true);
          expect(match.model).not.toMatch(/[/\\]/);
        }
      }),
    );
  });
});

describe('defaultPathPolicy', () => {
  it.each(PROVIDER_TYPES)('%s → the named styles are allowed, the control plane is not', (type) => {
    const policy = defaultPathPolicy(type);
    expect(matchPath(policy, 'v1/chat/completions')?.entry).toEqual({ path: 'v1/chat/completions' });
    expect(matchPath(policy, 'v1/models/g:generateContent')?.model).toBe('g');
    for (const control of ['v1/files', 'v1/key', 'v1/batches', 'v1/organization/api_keys', 'v1/realtime']) {
      expect(matchPath(policy, control)).toBeUndefined();
    }
  });

  it.each([
    ['openai', 'v1/embeddings', 'none'],
    ['perplexity', 'v1/agent', 'responses'],
    ['perplexity', 'router/v1/messages', 'anthropic'],
    ['deepseek', 'beta/completions', 'chat_completions'],
    ['bytedance', 'responses', 'responses'],
    ['gemini', 'v1beta/models/e:embedContent', 'none'],
  ] as const)('%s %s → is allowed with the ceiling style %s', (type, path, clamp) => {
    expect(matchPath(defaultPathPolicy(type), path)?.entry.clamp).toBe(clamp);
  });

  it.each([
    ['openai', 'v1/responses/input_tokens'],
    ['openai', 'v1/moderations'],
    ['openai', 'v1/embeddings'],
    ['openai', 'v1/responses/compact'],
    ['anthropic', 'v1/messages/count_tokens'],
    ...['v1', 'v1beta', 'v1alpha'].flatMap((version) =>
      ['countTokens', 'embedContent', 'batchEmbedContents'].map(
        (action) => ['gemini', `${version}/models/g:${action}`] as const,
      ),
    ),
  ] as const)('%s %s, which its SDK calls → allowed', (type, path) => {
    expect(matchPath(defaultPathPolicy(type), path)?.entry.clamp).toBe('none');
  });

  it('moderation without a model → the provider’s own default', () => {
    expect(matchPath(defaultPathPolicy('openai'), 'v1/moderations')?.entry.fixedModel).toBe('omni-moderation-latest');
    expect(matchPath(defaultPathPolicy('openai'), 'v1/embeddings')?.entry.fixedModel).toBeUndefined();
  });

  it('extra path of another type → not allowed', () => {
    expect(matchPath(defaultPathPolicy('anthropic'), 'v1/embeddings')).toBeUndefined();
  });
});
