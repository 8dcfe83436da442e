import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Ids } from '../common/ids.js';
import { appIdFrom, NewAppIds, slugifyAppName } from './new-app-ids.service.js';

class CountedIds extends Ids {
  bytes(length: number): Buffer {
    return Buffer.alloc(length);
  }

  uuid(): string {
    return '';
  }
}

const oldUsage = (...ids: string[]) => ({ appIdHasHistory: async (appId: string) => ids.includes(appId) });

describe('NewAppIds.draw', () => {
  it('name → its slug and six characters', async () => {
    expect(await new NewAppIds(new CountedIds(), oldUsage()).draw('My Notes!')).toBe('my-notes-000000');
  });

  it('id with recorded usage → another id is drawn', async () => {
    const usage = oldUsage('my-notes-000000');
    expect(await new NewAppIds(new CountedIds(), usage).draw('My Notes!')).toBeUndefined();
  });
});

describe('slugifyAppName', () => {
  it.each([
    ['Example App', 'example-app'],
    ['  Äpfel & Öl  ', 'apfel-ol'],
    ['İstanbul', 'istanbul'],
    ['ﬁne ½', 'fine-1-2'],
    ['a--_--b', 'a-b'],
    ['日本語', 'app'],
    ['', 'app'],
    ['---', 'app'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
  ])('%j → %s', (name, slug) => {
    expect(slugifyAppName(name)).toBe(slug);
  });
});

describe('appIdFrom', () => {
  it('long name → the stem is shortened, not the suffix, and never ends in a dash', () => {
    expect(appIdFrom('a'.repeat(100), 'x1y2z3')).toBe(`${'a'.repeat(56)}-x1y2z3`);
    expect(appIdFrom(`${'a'.repeat(55)} tail`, 'x1y2z3')).toBe(`${'a'.repeat(55)}-x1y2z3`);
  });

  it('any name → a slug of at most 63 characters that ends in the suffix', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (name) => {
        const id = appIdFrom(name, 'k7m2qz');
        expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*-k7m2qz$/);
        expect(id.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});
