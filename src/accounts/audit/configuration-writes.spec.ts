import { describe, expect, it } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { SystemClock } from '../../common/clock.js';
import { SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { ConfigChanges } from '../../platform/database/config-changes.js';
import { Outbox } from '../../platform/outbox/outbox.js';
import { newServiceActor } from '../access/admin-principal.js';
import { AuditEventsRepository } from './audit-events.repository.js';
import { AuditTrail } from './audit-trail.js';
import { ConfigurationWrites, type Transaction } from './configuration-writes.js';

const WHO = newServiceActor('account-1', 'identity-1', 'api');
const ENTRY = { action: 'app.replaced', targetType: 'app', targetId: 'notes' } as const;
const CHANGE = { topic: 'apps', key: 'notes' };

function setUp() {
  const steps: string[] = [];
  const dataSource = new DataSource({ type: 'postgres' });
  const trail = new (class extends AuditTrail {
    override async record(): Promise<void> {
      steps.push('audit');
    }
  })(new AuditEventsRepository(dataSource), new Outbox(), new SystemClock(), new SystemIds());
  const changes = new (class extends ConfigChanges {
    override async publish(): Promise<void> {
      steps.push('publish');
    }
  })({ url: new Secret(''), onTrouble: () => {} });
  changes.subscribe('apps', (key) => steps.push(`invalidate ${key}`));
  const transaction =
    <T>(end: () => void): Transaction<T> =>
    async (statements: (tx: EntityManager) => Promise<T>) => {
      const result = await statements(dataSource.manager);
      end();
      steps.push('commit');
      return result;
    };
  return { steps, transaction, writes: new ConfigurationWrites(dataSource, trail, changes) };
}

describe('ConfigurationWrites', () => {
  it('audit entry and change → both before the commit, snapshots of this instance after it', async () => {
    const { steps, transaction, writes } = setUp();
    const write = async () => ({ result: 'stored', entry: ENTRY, changes: [CHANGE] });
    expect(
      await writes.run(
        WHO,
        write,
        transaction(() => {}),
      ),
    ).toBe('stored');
    expect(steps).toEqual(['audit', 'publish', 'commit', 'invalidate notes']);
  });

  it('nothing changed → no entry and no change', async () => {
    const { steps, transaction, writes } = setUp();
    expect(
      await writes.run(
        WHO,
        async () => ({ result: undefined }),
        transaction(() => {}),
      ),
    ).toBeUndefined();
    expect(steps).toEqual(['commit']);
  });

  it('commit fails → snapshots stay', async () => {
    const { steps, transaction, writes } = setUp();
    const write = async () => ({ result: 1, entry: ENTRY, changes: [CHANGE] });
    const failing = transaction<number>(() => {
      throw new Error('connection lost');
    });
    await expect(writes.run(WHO, write, failing)).rejects.toThrow('connection lost');
    expect(steps).toEqual(['audit', 'publish']);
  });
});
