import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { registerUser, withFileLock } from './process-file.js';
import { isRunning, ownIdentity } from './process-identity.js';

let directory: string;
let lock: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gw-lock-'));
  lock = join(directory, 'lock');
});

afterEach(() => rmSync(directory, { recursive: true }));

/** The id of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return Number(child.pid);
}

describe('process mark', () => {
  it('this process → running; an ended one, or a later one with the same id → not running', async () => {
    expect(isRunning(ownIdentity())).toBe(true);
    expect(isRunning({ pid: await deadPid(), started: ownIdentity().started })).toBe(false);
    if (process.platform === 'linux') expect(isRunning({ pid: process.pid, started: 'earlier' })).toBe(false);
  });
});

describe('file lock', () => {
  it('several at once → one after the other, nothing left behind', async () => {
    let inside = 0;
    const seen: number[] = [];
    const work = async () => {
      seen.push(++inside);
      await sleep(20);
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => withFileLock(lock, 5_000, work)));
    expect(seen).toEqual([1, 1, 1]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('the holder was killed → several take over at once, still one after the other', async () => {
    writeFileSync(lock, JSON.stringify({ pid: await deadPid(), started: 'some boot/1' }));
    let inside = 0;
    const most: number[] = [];
    const work = async () => {
      most.push(++inside);
      await sleep(5);
      inside--;
    };
    await Promise.all([1, 2, 3, 4].map(() => withFileLock(lock, 5_000, work)));
    expect(most).toEqual([1, 1, 1, 1]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('the holder is alive → times out and names it; its lock stays', async () => {
    writeFileSync(lock, JSON.stringify(ownIdentity()));
    const waiting = withFileLock(lock, 100, async () => 'entered');
    await expect(waiting).rejects.toThrow(`held by process ${process.pid}`);
    expect(readdirSync(directory)).toEqual(['lock']);
  });

  it('the work fails → its error is thrown, and the lock is free', async () => {
    const failing = withFileLock(lock, 100, () => Promise.reject(new Error('work')));
    await expect(failing).rejects.toThrow('work');
    expect(existsSync(lock)).toBe(false);
  });
});

describe('users', () => {
  it('two of one process → only the last to leave is alone', () => {
    const users = join(directory, 'users');
    const [first, second] = [registerUser(users), registerUser(users)];
    expect(first.leave()).toEqual({ othersRemain: true });
    expect(second.leave()).toEqual({ othersRemain: false });
  });

  it('a user that was killed, or an unreadable file → does not count and is removed', async () => {
    const users = join(directory, 'users');
    const user = registerUser(users);
    writeFileSync(join(users, 'killed'), JSON.stringify({ pid: await deadPid(), started: 'some boot/1' }));
    writeFileSync(join(users, 'torn'), '{"pid":');
    expect(user.leave()).toEqual({ othersRemain: false });
    expect(readdirSync(users)).toEqual([]);
  });
});
