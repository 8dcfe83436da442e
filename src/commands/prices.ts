import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { updatePrices } from '@pydantic/genai-prices';
import { SystemClock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { buildPriceCatalog } from '../pricing/price-catalog.js';
import { parsePriceFile } from '../pricing/price-file.rules.js';

const USAGE = 'npm run prices -- --from <data file of the price library> [--to <price file>]';

/**
 * Writes a price file from a data file of the price library, with today's prices and the corrections of this version.
 * It goes to standard output, or to `--to`. Exit code 1 when the data cannot be read, or the service would not take the
 * result.
 */
function main(): void {
  const { from, to } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } }).values;
  if (from === undefined) throw new Error(`usage: ${USAGE}`);
  const data: unknown = JSON.parse(readFileSync(from, 'utf8'));
  if (!Array.isArray(data)) throw new Error(`${from} is not a list of providers`);
  updatePrices(({ setProviderData }) => setProviderData(data));
  const text = `${JSON.stringify({ prices: buildPriceCatalog(new SystemClock().utcDay()) }, null, 2)}\n`;
  parsePriceFile(Buffer.from(text));
  if (to === undefined) process.stdout.write(text);
  else writeFileSync(to, text);
}

try {
  main();
} catch (error) {
  process.stderr.write(`The prices were not written: ${errorText(error)}\n`);
  process.exitCode = 1;
}
