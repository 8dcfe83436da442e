import { describe, expect, it } from '@jest/globals';
import { AppUsageTotals, type UsageTotals } from '../app-directory/app-usage-totals.js';
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

class OldUsage extends AppUsageTotals {
  constructor(private readonly ids: readonly string[]) {
    super();
  }

  async totalsByApp(): Promise<ReadonlyMap<string, UsageTotals>> {
    return new Map();
  }

  async hasProxiedRequests(): Promise<boolean> {
    return false;
  }

  async appIdHasHistory(appId: string): Promise<boolean> {
    return this.ids.includes(appId);
  }
}

describe('NewAppIds.draw', () => {
  it('name → its slug and six characters', async () => {
    expect(await new NewAppIds(new CountedIds(), new OldUsage([])).draw('My Notes!')).toBe('my-notes-000000');
  });

  it('id under which somebody left usage → an unlucky draw', async () => {
    const usage = new OldUsage(['my-notes-000000']);
    expect(await new NewAppIds(new CountedIds(), usage).draw('My Notes!')).toBeUndefined();
  });
});
