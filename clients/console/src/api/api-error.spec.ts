import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { memberPath as serverPath } from '../../../../src/common/fields/config-values.js';
import { ApiError, memberPath, problemAt, problemExactlyAt } from './api-error';

const refusal = (message: string, status = 400) =>
  ApiError.of(new Response('', { status }), { error: { code: 'invalid_request', message } });

describe('memberPath', () => {
  it('any name → spelled as in the API', () => {
    const name = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 90 }),
      fc.constantFrom('gpt-4.1', 'a/b', 'a..b'),
    );
    fc.assert(fc.property(name, (own) => expect(memberPath('config.x', own)).toBe(serverPath('config.x', own))));
  });
});

describe('problemAt', () => {
  it('any member name with any problem text → shown at the field of that name, and at no other', () => {
    const name = fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'binary', minLength: 1, maxLength: 90 }));
    const problem = fc.string({ minLength: 1 }).map((text) => `must not be ${text}`);
    fc.assert(
      fc.property(name, problem, (own, wrong) => {
        const error = refusal(`${serverPath('config.model_rewrites', own)}: ${wrong}`);
        expect(problemAt(error, memberPath('config.model_rewrites', own))).toBe(wrong);
        expect(problemExactlyAt(error, memberPath('config.model_rewrites', own))).toBe(wrong);
        expect(problemAt(error, memberPath('config.model_rewrites', `${own.slice(0, 20)}?!`))).toBeUndefined();
      }),
    );
  });

  it.each([
    ['config.list.3: is wrong', 'config.list', 'entry 4: is wrong'],
    ['config.list[3]: is wrong', 'config.list', 'entry 4: is wrong'],
    ['config.list.3.path: is wrong', 'config.list', 'entry 4.path: is wrong'],
    ['pricing.m.input: must be at least 0', 'pricing', 'm.input: must be at least 0'],
    ['pricing."a b".input: must be: what?', 'pricing', '"a b".input: must be: what?'],
    [
      'config.endpoints.a.fallback.0.model: "x" has no price',
      'config.endpoints.a.fallback.0.model',
      '"x" has no price',
    ],
  ])('%s → at %s: %s', (message, path, shown) => {
    expect(problemAt(refusal(message), path)).toBe(shown);
  });

  it.each([
    ['config.listing: is wrong', 'config.list'],
    ['config.list: is wrong', 'config.list.3'],
    ['config.list.30: is wrong', 'config.list.3'],
    ['Nothing of this kind: at all', 'Nothing'],
  ])('%s → not at %s', (message, path) => {
    expect(problemAt(refusal(message), path)).toBeUndefined();
  });

  it('another status, another error → at no field', () => {
    expect(problemAt(refusal('name: is wrong', 503), 'name')).toBeUndefined();
    expect(problemAt(new Error('name: is wrong'), 'name')).toBeUndefined();
  });
});
