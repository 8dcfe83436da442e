import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startWorld } from '../../support/world.js';

const PROGRAM = fileURLToPath(new URL('../../../dist/src/commands/prices.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gateway-prices-'));
const [from, to] = [join(folder, 'data.json'), join(folder, 'prices.json')];
/** In the format of the library's data file. */
const DATA = [
  {
    ...{ id: 'openai', name: 'OpenAI', api_pattern: 'https://api\\.openai\\.com' },
    models: [
      {
        ...{ id: 'gpt-of-tomorrow', match: { equals: 'gpt-of-tomorrow' } },
        prices: [
          { prices: { input_mtok: 1, output_mtok: 2 } },
          {
            constraint: { start_date: '2025-01-01' },
            prices: { input_mtok: { base: 3, tiers: [{ start: 100_000, price: 6 }] }, output_mtok: 4 },
          },
          { constraint: { start_date: '2999-01-01' }, prices: { input_mtok: 9, output_mtok: 9 } },
        ],
      },
      { id: 'free-form', match: { equals: 'free-form' }, prices: {} },
    ],
  },
];
const PRICE = { input: 3, long_input: 6, output: 4, long_context_threshold: 100_000 };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: string[]) => spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8' });

describe('npm run prices', () => {
  it('a data file → a price file with today’s prices and the corrections, which the service accepts', async () => {
    writeFileSync(from, JSON.stringify(DATA));
    expect(run('--from', from, '--to', to)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const { stdout } = run('--from', from);
    expect(readFileSync(to, 'utf8')).toBe(stdout);
    const { prices } = JSON.parse(stdout);
    expect(prices.openai).toEqual({
      'gpt-of-tomorrow': PRICE,
      'whisper-1': { per_minute: 0.006 },
      moderation: { input: 0, output: 0 },
    });
    const world = await startWorld({ env: { PRICES_FILE: to } });
    try {
      const list = (await world.api.get('/v1/admin/prices')).body.prices;
      expect(list.openai).toMatchObject({ 'gpt-of-tomorrow': PRICE, 'gpt-4.1': { input: 2 } });
    } finally {
      await world.stop();
    }
  });

  it.each([
    [[], 'usage: npm run prices -- --from'],
    [['--from', join(folder, 'none.json')], 'ENOENT'],
  ])('%j → exit code 1 with the reason', (words, why) => {
    const { status, stdout, stderr } = run(...words);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The prices were not written: /);
    expect(stderr).toContain(why);
  });

  it.each(['null', '{}', '[{}]', '{'])('data %s → exit code 1, nothing written', (content) => {
    writeFileSync(from, content);
    const target = join(folder, 'not-written.json');
    const { status, stderr } = run('--from', from, '--to', target);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The prices were not written: .+\n$/)]);
    expect(() => readFileSync(target)).toThrow('ENOENT');
  });
});
