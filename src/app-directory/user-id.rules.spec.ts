import { describe, expect, it } from '@jest/globals';
import { isUserId } from './user-id.rules.js';

describe('isUserId (ADR 0011)', () => {
  it.each([
    'a',
    '...',
    '.a',
    'a/..',
    '%2e',
    '%2E%2E',
    ' ',
    'a b',
    'team/ann+1',
    'auth0|64ab',
    '\u0001'.repeat(1_024),
    'é'.repeat(512),
    '😀'.repeat(256),
  ])('%j → can be a user', (id) => expect(isUserId(id)).toBe(true));

  it.each([
    '',
    '.',
    '..',
    'u'.repeat(1_025),
    'é'.repeat(513),
    'a\u0000',
    '\ud800',
    undefined,
    null,
    7,
    ['a'],
    { id: 'a' },
  ])('%j → cannot', (id) => expect(isUserId(id)).toBe(false));
});
