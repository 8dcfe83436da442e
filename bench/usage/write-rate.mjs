/**
 * How many events one writer stores in a second, in full batches on one connection:
 * `npm run build && node bench/usage/write-rate.mjs --url=postgres://… [--seconds=15] [--rate=5000]`
 *
 * The database must be migrated and keeps the events. Without a rate it writes as fast as it can.
 */
import { parseArgs } from 'node:util';
import { write } from './event-writer.mjs';

const { values } = parseArgs({
  options: { url: { type: 'string' }, seconds: { type: 'string', default: '15' }, rate: { type: 'string' } },
});
if (values.url === undefined) throw new Error('--url names the database to write to');

const rate = values.rate === undefined ? null : Number(values.rate);
const { stored, perSecond } = await write({ url: values.url, rate, durationMs: Number(values.seconds) * 1_000 });
console.log(`${Math.round(perSecond)} events/s, ${stored} in all`);
