import { describe, expect, it } from '@jest/globals';
import { CheckedMembers, REQUEST_NAMES } from './checked-members.js';

function find(key: string, names = REQUEST_NAMES) {
  const bytes = Buffer.from(`"${key}"`);
  return names.find(bytes, 1, bytes.length - 1, key.includes('\\'));
}

describe('validated names', () => {
  it('key: written plainly → found as written', () => {
    expect(find('max_tokens')).toMatchObject({ written: 'max_tokens', checked: { name: 'max_tokens', root: true } });
  });

  it.each(['mod\\u0065l', '\\u006d\\u006f\\u0064\\u0065\\u006c'])('key: escaped as %s → found unescaped', (key) => {
    expect(find(key)).toMatchObject({ written: 'model', checked: { name: 'model' } });
  });

  it.each([
    ['Max_Tokens', 'max_tokens'],
    ['MODEL', 'model'],
    ['max_to\u212aens', 'max_tokens'],
    ['\u017ftream', 'stream'],
    ['\\u017Ftream', 'stream'],
  ])('key: %s → found as %s in another spelling', (key, name) => {
    const found = find(key);
    expect(found?.checked.name).toBe(name);
    expect(found?.written).not.toBe(name);
  });

  it.each(['', 'modem', 'modelss', 'x'.repeat(500), 'é', 'mödel', '\\n'])('key: %p → not validated', (key) => {
    expect(find(key)).toBeUndefined();
  });

  it('nested name: knows its parents, which are checked at the root', () => {
    const parents = ['generationConfig', 'generation_config'];
    expect([...(find('maxOutputTokens')?.checked.parents ?? [])]).toEqual(parents);
    expect(parents.map((parent) => [REQUEST_NAMES.isParent(parent), find(parent)?.checked.root])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it.each([[['model', 'Model']], [['näme']], [['x'.repeat(64)]]])(
    'list: %p cannot be told apart or compared → refused when it is built',
    (root) => {
      expect(() => new CheckedMembers({ root, nested: {}, deep: [], media: [] })).toThrow('judged name');
    },
  );
});
