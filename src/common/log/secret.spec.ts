import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Secret } from './secret.js';

describe('Secret', () => {
  const secret = new Secret('sk-very-private');

  it.each([
    ['a template literal', `${secret}`],
    ['JSON', JSON.stringify({ secret })],
    ['inspection', inspect({ secret }, { depth: 5, showHidden: true })],
    ['an error message', String(new Error(`${secret}`))],
  ])('%s → never shows the value', (_name, text) => {
    expect(text).not.toContain('sk-very-private');
    expect(text).toContain('[secret]');
  });

  it('reveal → returns the value', () => {
    expect(secret.reveal()).toBe('sk-very-private');
  });
});
