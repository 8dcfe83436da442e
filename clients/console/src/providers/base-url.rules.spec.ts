import { expect, it } from '@jest/globals';
import { baseUrlHint, baseUrlProblem } from './base-url.rules';

const PROXY = 'https://proxy.example.com';

it.each([
  ['openai', `${PROXY}/v1`, '/v1'],
  ['openai', `${PROXY}/v1/ `, '/v1'],
  ['gemini', `${PROXY}/v1beta/`, '/v1beta'],
  ['groq', `${PROXY}/openai/v1`, '/openai/v1'],
])('%s at %s → names the part that the gateway adds, and the address without it', (type, typed, part) => {
  expect(baseUrlProblem(type, typed)).toBe(`must not end with ${part}, which the gateway adds: type ${PROXY}`);
});

it.each([
  ['openai', ''],
  ['openai', PROXY],
  ['openai', `${PROXY}/openai`],
  ['deepseek', `${PROXY}/v1`],
  ['bytedance', `${PROXY}/api/v3`],
])('%s at “%s” → no problem', (type, typed) => expect(baseUrlProblem(type, typed)).toBeUndefined());

it('the hint → says what to leave out, where there is something', () => {
  expect(baseUrlHint('mistral')).toContain('without /v1:');
  expect(baseUrlHint('deepseek')).not.toContain('without');
});
