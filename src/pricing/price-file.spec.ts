import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { aPriceBook } from '../../test/support/providers/price-books.js';
import { SystemClock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { EnvironmentError } from '../platform/config/environment.js';
import { compilePrice } from './model-price.js';
import { PriceFile } from './price-file.js';

const WITHIN = { withinMs: 10_000 };
const BUILT_IN = { input: 1, output: 2, cached_input: 0.5 };
const OF_FILE = { input: 3, output: 4 };

let directory: string;
let path: string;
let lines: Record<string, unknown>[];
let file: PriceFile | undefined;
let prices: ReturnType<typeof aPriceBook>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-prices-'));
  path = join(directory, 'prices.json');
  lines = [];
  prices = aPriceBook({ openai: { 'gpt-4o': BUILT_IN, 'gpt-4.1': BUILT_IN } });
});

afterEach(() => {
  file?.onApplicationShutdown();
  file = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function open(): Promise<PriceFile> {
  const told = lines;
  const log = new Log(new SystemClock(), 'debug', (line) => told.push(JSON.parse(line)));
  file = await PriceFile.open({ path, prices, log, everyMs: 5 });
  return file;
}

const write = (models: object) => writeFileSync(path, JSON.stringify({ prices: models }));
const inputOf = (model: string) => prices.find('openai', model)?.tokens?.input;

describe('PriceFile', () => {
  it('a valid file → in force at the start, also for aliases of its models; other models keep their prices', async () => {
    write({ openai: { 'gpt-4o': OF_FILE, 'gpt-new': OF_FILE }, openrouter: { 'lab/one': OF_FILE } });
    utimesSync(path, 1_800_000_000, 1_800_000_000);
    const { origin } = await open();
    expect(origin).toEqual({ source: 'file', date: '2027-01-15T08:00:00.000Z' });
    for (const model of ['gpt-4o', 'gpt-4o-2024-08-06', 'gpt-new', 'gpt-new-2027-01-02', 'gpt-new-latest']) {
      expect([model, prices.find('openai', model)]).toEqual([model, compilePrice(OF_FILE)]);
    }
    expect(prices.find('openrouter', 'lab/one-latest')).toEqual(compilePrice(OF_FILE));
    expect(prices.find('openai', 'gpt-4.1')).toEqual(compilePrice(BUILT_IN));
    expect(prices.find('openai', 'gpt-newer')).toBeUndefined();
    expect(prices.list()).toEqual({
      openai: { 'gpt-4o': OF_FILE, 'gpt-new': OF_FILE, 'gpt-4.1': BUILT_IN },
      openrouter: { 'lab/one': OF_FILE },
    });
    expect(lines).toMatchObject([{ level: 'info', message: 'prices_file_read', file: path, models: 3 }]);
  });

  it('a model leaves the file → its built-in price; an alias of a model that was unknown before → found', async () => {
    write({ openai: { 'gpt-4o': OF_FILE } });
    await open();
    expect(inputOf('gpt-new-latest')).toBeUndefined();
    write({ openai: { 'gpt-new': OF_FILE } });
    await eventually(() => inputOf('gpt-new-latest') === 3_000_000_000, WITHIN);
    expect(prices.find('openai', 'gpt-4o')).toEqual(compilePrice(BUILT_IN));
  });

  it('an invalid version, then no file → the last valid one stays, with one log line each; a valid one → in force', async () => {
    write({ openai: { 'gpt-4o': OF_FILE } });
    const { origin } = await open();
    writeFileSync(path, '{"prices":{"openai":{"gpt-4o":{"input":-1,"output":1}}}}');
    await eventually(() => lines.length === 2, WITHIN);
    rmSync(path);
    await eventually(() => lines.length === 3, WITHIN);
    expect([inputOf('gpt-4o'), file?.origin]).toEqual([3_000_000_000, origin]);
    write({ openai: { 'gpt-4o': { ...OF_FILE, input: 5 } } });
    await eventually(() => inputOf('gpt-4o') === 5_000_000_000, WITHIN);
    expect(lines.slice(1)).toMatchObject([
      {
        level: 'error',
        message: 'prices_file_unreadable',
        error: 'file.prices.openai.gpt-4o.input: must be at least 0',
      },
      { level: 'error', message: 'prices_file_unreadable', error: 'ENOENT' },
      { level: 'info', message: 'prices_file_read', models: 1 },
    ]);
  });

  it.each([
    [undefined, 'ENOENT'],
    ['{', 'file: is not valid JSON'],
    ['{"prices":{"acme":{}}}', 'file.prices.acme: is not a provider type'],
  ])('at the start %p → an error that names the setting and the problem', async (content, problem) => {
    if (content !== undefined) writeFileSync(path, content);
    await expect(open()).rejects.toEqual(new EnvironmentError(`PRICES_FILE ${path} cannot be used: ${problem}`));
    expect(lines).toEqual([]);
  });
});
