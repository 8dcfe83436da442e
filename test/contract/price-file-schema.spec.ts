import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { buildPriceCatalog } from '../../src/pricing/price-catalog.js';
import { parsePriceFile } from '../../src/pricing/price-file.rules.js';

const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/schemas/prices.schema.json'), 'utf8'));
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(SCHEMA);
const RATES = { input: 1, output: 2 };

function isTaken(content: unknown): boolean {
  try {
    parsePriceFile(Buffer.from(JSON.stringify(content)));
    return true;
  } catch {
    return false;
  }
}

const ofModel = (price: unknown, model = 'm') => ({ prices: { openai: { [model]: price } } });
const members = Object.keys(SCHEMA.$defs.BillablePrice.properties);

describe('docs/schemas/prices.schema.json', () => {
  it('→ a valid schema', () => {
    expect(new Ajv2020({ strict: false, validateFormats: false }).validateSchema(SCHEMA)).toBe(true);
  });

  it.each<[unknown, boolean]>([
    [{ prices: JSON.parse(JSON.stringify(buildPriceCatalog('2026-11-20'))) }, true],
    [{ prices: {} }, true],
    ...Object.keys(SCHEMA.properties.prices.properties).map((type): [unknown, boolean] => [
      { prices: { [type]: { m: RATES } } },
      true,
    ]),
    [ofModel({ per_minute: 0 }), true],
    [ofModel({ per_image: 1 }), true],
    [ofModel({ per_request: 1 }), true],
    [ofModel({ per_1k_characters: 1 }), true],
    [ofModel({ per_1k_web_searches: 1 }), false],
    [ofModel({ ...RATES, tiers: { flex: RATES, priority: { per_image: 1 }, batch: {} } }), true],
    [ofModel({ ...RATES, tiers: { turbo: RATES } }), false],
    [ofModel({ ...RATES, tiers: { flex: { author: 'Lab' } } }), false],
    [ofModel({ ...RATES, tiers: { flex: { input: -1 } } }), false],
    [ofModel({ per_hour: 1, author: 'Lab', retirement_date: '2027-01-31' }), true],
    [ofModel(RATES, 'm'.repeat(200)), true],
    [{}, false],
    [[], false],
    [{ prices: {}, other: 1 }, false],
    [{ prices: { acme: {} } }, false],
    [{ prices: { openai: [] } }, false],
    [ofModel(RATES, ''), false],
    [ofModel(RATES, ' m'), false],
    [ofModel(RATES, 'm'.repeat(201)), false],
    [ofModel({}), false],
    [ofModel({ input: 1 }), false],
    [ofModel({ output: 1, cached_input: 1 }), false],
    [ofModel({ ...RATES, other: 1 }), false],
    [ofModel({ ...RATES, retirement_date: 'soon' }), false],
    [ofModel({ ...RATES, author: '' }), false],
    [ofModel({ ...RATES, long_context_threshold: 1.5 }), false],
    ...members.flatMap((member): [unknown, boolean][] => [
      [ofModel({ ...RATES, [member]: null }), false],
      [ofModel({ ...RATES, [member]: -1 }), false],
      [ofModel({ ...RATES, [member]: [] }), false],
    ]),
    [ofModel({ ...RATES, input: 9_000_001 }), false],
  ])('%j → the same verdict as the reader', (content, verdict) => {
    expect([isValid(content), isTaken(content)]).toEqual([verdict, verdict]);
  });
});
