import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { rawServerConfig } from '../../test/support/apps/app-configs.js';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { Secret } from '../common/log/secret.js';
import { loadEnvironment } from '../platform/config/environment.js';
import { ConfigChanges, EVERYTHING } from '../platform/database/config-changes.js';
import type { AppRow } from './app.entity.js';
import { AppConfigParser } from './app-config-parser.js';
import { AppDirectoryRepository } from './app-directory.repository.js';
import { AppDirectoryService } from './app-directory.service.js';

class ManualClock extends Clock {
  atMs = 0;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

/** The table in memory; counts reads. */
class StoredApps extends AppDirectoryRepository {
  readonly rows: AppRow[] = [];
  reads = 0;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async findOfAnyAccount(appId: string): Promise<AppRow | undefined> {
    this.reads++;
    return this.rows.find((row) => row.id === appId);
  }

  override async findOwn(organizationId: string, appId: string): Promise<AppRow | undefined> {
    this.reads++;
    return this.rows.find((row) => row.id === appId && row.organizationId === organizationId);
  }
}

class SpokenChanges extends ConfigChanges {
  announce: (key: string) => void = () => {};

  override subscribe(topic: string, subscriber: (key: string) => void): () => void {
    expect(topic).toBe('apps');
    this.announce = subscriber;
    return () => {
      this.announce = () => {};
    };
  }
}

function setUp(config: unknown = rawServerConfig()) {
  const clock = new ManualClock();
  const repository = new StoredApps();
  const at = clock.now();
  repository.rows.push({
    id: 'notes-abc123',
    organizationId: 'account-1',
    name: 'Notes',
    config,
    authenticationType: 'api_key',
    revision: 1,
    status: 'active',
    createdAt: at,
    handle: null,
    updatedAt: at,
  });
  const lines: Record<string, unknown>[] = [];
  const log = new Log(clock, 'debug', (line) => lines.push(JSON.parse(line)));
  const changes = new SpokenChanges({ url: new Secret(''), onTrouble: () => {} });
  const parser = new AppConfigParser(loadEnvironment({}));
  return {
    clock,
    repository,
    lines,
    changes,
    apps: new AppDirectoryService(repository, parser, log, changes, clock),
  };
}

describe('AppDirectoryService.find', () => {
  it('cached → at once, and the same parsed object', async () => {
    const { apps, repository } = setUp();
    const app = await apps.find('notes-abc123');
    expect(apps.find('notes-abc123')).toBe(app);
    expect(repository.reads).toBe(1);
  });

  it.each([['notes-abc123'], [EVERYTHING]])('change of "%s" announced → read again', async (key) => {
    const { apps, repository, changes } = setUp();
    await apps.find('notes-abc123');
    changes.announce(key);
    await apps.find('notes-abc123');
    expect(repository.reads).toBe(2);
  });

  it('another application changed → not read again', async () => {
    const { apps, repository, changes } = setUp();
    await apps.find('notes-abc123');
    changes.announce('other-abc123');
    await apps.find('notes-abc123');
    expect(repository.reads).toBe(1);
  });

  it('no announcement → after a minute it is read again before the answer', async () => {
    const { apps, repository, clock } = setUp();
    await apps.find('notes-abc123');
    repository.rows.length = 0;
    clock.atMs = 59_999;
    expect(apps.find('notes-abc123')).toMatchObject({ id: 'notes-abc123' });
    clock.atMs = 60_000;
    expect(await apps.find('notes-abc123')).toBeUndefined();
  });

  it.each(['', 'Notes', 'notes_abc123', 'notes\u0000', '../etc', '-notes', 'a'.repeat(64), '*'])(
    '"%s", an impossible application id → undefined without a read',
    (appId) => {
      const { apps, repository } = setUp();
      expect(apps.find(appId)).toBeUndefined();
      expect(repository.reads).toBe(0);
    },
  );

  it('stored configuration no longer parses → the snapshot says why, one log line per load', async () => {
    const { apps, lines } = setUp({ authentication: {} });
    expect(await apps.find('notes-abc123')).toMatchObject({ configError: expect.stringMatching(/^config\./) });
    await apps.find('notes-abc123');
    expect(lines).toEqual([
      expect.objectContaining({ message: 'app_config_unreadable', level: 'error', appId: 'notes-abc123' }),
    ]);
  });
});

describe('AppDirectoryService.requireOwn', () => {
  it('own → the row, read each time', async () => {
    const { apps, repository } = setUp();
    await apps.requireOwn('account-1', 'notes-abc123');
    expect(await apps.requireOwn('account-1', 'notes-abc123')).toMatchObject({ name: 'Notes' });
    expect(repository.reads).toBe(2);
  });

  it.each([
    ['of another account', 'account-2', 'notes-abc123'],
    ['that does not exist', 'account-1', 'notes-abc124'],
    ['with a NUL in its name', 'account-1', 'notes\u0000'],
  ])('application %s → app_not_found', async (_name, organizationId, appId) => {
    await expect(setUp().apps.requireOwn(organizationId, appId)).rejects.toMatchObject({ code: 'app_not_found' });
  });
});
