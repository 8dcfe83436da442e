import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ownIdentity } from '../embedded-postgres/process-identity.js';
import { leaveJournal, takeJournalHome } from './journal-home.js';

/** Above the highest process id of any system. */
const DEAD = { pid: 2 ** 30, started: 'never' };

let root: string;

beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), 'journal-home-')), 'journal');
});

afterEach(() => {
  rmSync(join(root, '..'), { recursive: true, force: true });
});

function journalOf(name: string, owner: unknown): string {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  if (owner !== undefined) writeFileSync(join(directory, 'owner'), JSON.stringify(owner));
  return directory;
}

describe('journal home', () => {
  it('first start → an empty directory readable only by the owner of the process', async () => {
    const { directory, orphans } = await takeJournalHome(root, 'one');
    expect(orphans).toEqual([]);
    expect(statSync(root).mode & 0o777).toBe(0o700);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual(['owner']);
    expect(readdirSync(root)).toEqual(['one']);
  });

  it('journal of a living process → left alone', async () => {
    const living = journalOf('living', ownIdentity());
    expect((await takeJournalHome(root, 'one')).orphans).toEqual([]);
    expect(existsSync(living)).toBe(true);
  });

  it.each([
    ['of a process that is gone', DEAD],
    ['of a process whose id somebody else has now', { ...ownIdentity(), started: 'earlier' }],
    ['that was given up', undefined],
    ['whose owner cannot be read', 'nonsense'],
  ])('journal %s → is taken over', async (_name, owner) => {
    const orphan = journalOf('orphan', owner);
    expect((await takeJournalHome(root, 'one')).orphans).toEqual([orphan]);
  });

  it('orphan recovered by one process → no orphan for others, until it is released', async () => {
    const orphan = journalOf('orphan', DEAD);
    await takeJournalHome(root, 'one');
    expect((await takeJournalHome(root, 'two')).orphans).toEqual([]);
    leaveJournal(orphan);
    expect((await takeJournalHome(root, 'three')).orphans).toEqual([orphan]);
  });

  it('five that start together → each orphan is recovered by exactly one', async () => {
    const orphans = ['a', 'b', 'c'].map((name) => journalOf(name, DEAD));
    const homes = await Promise.all([1, 2, 3, 4, 5].map((number) => takeJournalHome(root, `new${number}`)));
    expect(homes.flatMap((home) => home.orphans).sort()).toEqual(orphans);
  });

  it('name that is left over from an earlier process → another directory', async () => {
    journalOf('same', DEAD);
    expect((await takeJournalHome(root, 'same')).directory).toBe(join(root, 'same-2'));
  });
});
