import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { PlansFile } from './plans-file.js';

const WITHIN = { withinMs: 10_000 };

let directory: string;
let path: string;
let lines: Record<string, unknown>[];
let file: PlansFile | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-plans-'));
  path = join(directory, 'plans.json');
  lines = [];
});

afterEach(() => {
  file?.close();
  file = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function open(): Promise<PlansFile> {
  // A file closed during a read still logs that read, so that it is not among the lines of the next test.
  const told = lines;
  const log = new Log(new SystemClock(), 'debug', (line) => told.push(JSON.parse(line)));
  file = await PlansFile.open({ path, log, everyMs: 5 });
  return file;
}

function write(...plans: string[]): void {
  writeFileSync(path, text(plans));
}

function text(plans: string[]): string {
  return JSON.stringify({ plans: Object.fromEntries(plans.map((key) => [key, { name: key, limits: {} }])) });
}

const keys = () => [...(file?.plans?.plans.keys() ?? ['none'])].join();
const messages = () => lines.map(({ message }) => message);
/** Waits for several polls of the file, one every 5 ms: a poll without a change cannot be observed. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 60));

describe('PlansFile', () => {
  it('a valid file → read once, at the start', async () => {
    write('free', 'pro');
    const { plans, isStale } = await open();
    expect([[...(plans?.plans.keys() ?? [])], isStale]).toEqual([['free', 'pro'], false]);
    await aWhile();
    expect(lines).toMatchObject([{ level: 'info', message: 'plans_file_read', file: path, plans: 2, accounts: 0 }]);
  });

  it('no file → the service starts without plans, logs it once, and loads the file when it appears', async () => {
    await open();
    expect([keys(), file?.isStale]).toEqual(['none', true]);
    await aWhile();
    expect(lines).toMatchObject([{ level: 'error', message: 'plans_file_unreadable', file: path, error: 'ENOENT' }]);
    write('free');
    await eventually(() => keys() === 'free', WITHIN);
    expect([messages(), file?.isStale]).toEqual([['plans_file_unreadable', 'plans_file_read'], false]);
  });

  it('changed in place, or replaced by another file → read again', async () => {
    write('one');
    await open();
    write('two');
    await eventually(() => keys() === 'two', WITHIN);
    const next = join(directory, 'next.json');
    writeFileSync(next, text(['six']));
    renameSync(next, path);
    await eventually(() => keys() === 'six', WITHIN);
  });

  it('an invalid version → the previous one stays in force; one log line for each problem, with its place', async () => {
    write('free');
    await open();
    writeFileSync(path, '{"plans":{},"account":{}}');
    await eventually(() => file?.isStale === true, WITHIN);
    await aWhile();
    expect(keys()).toBe('free');
    writeFileSync(path, '{"plans":');
    await eventually(() => lines.length === 3, WITHIN);
    expect(lines.slice(1)).toMatchObject([
      { message: 'plans_file_unreadable', error: 'file.account: is not a known field' },
      { message: 'plans_file_unreadable', error: 'file: is not valid JSON' },
    ]);
    write('pro');
    await eventually(() => keys() === 'pro', WITHIN);
    expect(file?.isStale).toBe(false);
  });

  it('deleted for a while → its content stays in force; the same file returns → no longer stale', async () => {
    write('free');
    await open();
    const aside = join(directory, 'aside.json');
    renameSync(path, aside);
    await eventually(() => file?.isStale === true, WITHIN);
    expect(keys()).toBe('free');
    renameSync(aside, path);
    await eventually(() => file?.isStale === false, WITHIN);
  });

  it('closed → no longer watched', async () => {
    write('one');
    const { plans } = await open();
    file?.close();
    await aWhile();
    write('two');
    await aWhile();
    expect(file?.plans).toBe(plans);
  });
});
