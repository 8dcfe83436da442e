import { describe, expect, it } from '@jest/globals';
import { Ids } from '../common/ids.js';
import { NewAppIds } from './new-app-ids.service.js';

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
