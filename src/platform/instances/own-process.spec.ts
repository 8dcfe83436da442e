import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { isKnownToHaveEnded, ownProcess } from './own-process.js';

describe('isKnownToHaveEnded', () => {
  it('this process → runs', () => {
    expect(isKnownToHaveEnded(ownProcess())).toBe(false);
  });

  it('a process of this machine that has ended → ended, even if another process now has its id', async () => {
    const child = spawn(process.execPath, ['--version']);
    const { pid = 0 } = child;
    await once(child, 'exit');
    const own = ownProcess();
    expect(isKnownToHaveEnded({ ...own, pid })).toBe(true);
    if (process.platform !== 'linux') return;
    expect(isKnownToHaveEnded({ ...own, started: own.started.replace(/\d+$/, '1') })).toBe(true);
  });

  it('another machine, or another container of the same name → not known', () => {
    const own = { ...ownProcess(), pid: 2 ** 22 + 1 };
    expect(isKnownToHaveEnded({ ...own, host: 'elsewhere' })).toBe(false);
    if (process.platform !== 'linux') return;
    expect(isKnownToHaveEnded({ ...own, started: own.started.replace(/^pid:\[\d+]/, 'pid:[1]') })).toBe(false);
  });
});
