import { expect, it } from '@jest/globals';
import { wordOf } from './words.rules';

it.each([
  ['active', 'Active'],
  ['issuer_token_rejected', 'Issuer token rejected'],
  ['', ''],
])('%s → %s', (code, word) => expect(wordOf(code)).toBe(word));
