import { describe, expect, it } from '@jest/globals';
import type { Schemas } from '../api/client';
import { modelOf, providerOf, refusalText } from './refusal.rules';

type Refusal = NonNullable<Schemas['UsageEventResponse']['refusal']>;

const refusal = (message: string, until: string | null = null) => ({ code: 'any', message, until }) as Refusal;
const UNTIL = '2026-02-01T00:00:00.000Z';

describe('refusalText', () => {
  it.each([
    [
      'The limit of 3 requests per UTC day is reached; try again in 48894 s.',
      'The limit of 3 requests per UTC day is reached.',
    ],
    ['The budget is used up. Try again in 5 s.', 'The budget is used up.'],
    ['The user is blocked.', 'The user is blocked.'],
  ])('“%s” with a time → no separate wait', (message, text) => {
    expect(refusalText(refusal(message, UNTIL))).toBe(text);
  });

  it('no time → the caller’s message', () => {
    const message = 'The rest is held. Try again in 2 s.';
    expect(refusalText(refusal(message))).toBe(message);
  });
});

describe('modelOf', () => {
  it.each([
    ['gpt-5', null, 'gpt-5'],
    ['(none)', 'The model "my-model" has no price. Add custom pricing for it on the provider "openai".', 'my-model'],
    ['(none)', 'The application does not allow the model "a \\"b\\"".', 'a "b"'],
    ['(none)', 'A request limit is reached.', null],
    ['(none)', null, null],
  ])('%s, refused with “%s” → %s', (model, message, expected) => {
    expect(modelOf({ model, refusal: message === null ? null : refusal(message) })).toBe(expected);
  });
});

it('providerOf → no provider if none was chosen', () => {
  expect(providerOf({ provider: '(none)', provider_slug: null })).toBeNull();
  expect(providerOf({ provider: 'openai', provider_slug: 'openai' })).toBe('openai');
  expect(providerOf({ provider: 'openai', provider_slug: 'second' })).toBe('second (openai)');
});
