import { describe, expect, it } from '@jest/globals';
import type { ModelInfo } from '@pydantic/genai-prices';
import { toModelPrice } from './library-price.rules.js';

const TODAY = '2026-11-20';

function priceOf(prices: ModelInfo['prices'], utcDay = TODAY) {
  return toModelPrice({ id: 'model', match: { equals: 'model' }, prices }, utcDay);
}

describe('toModelPrice', () => {
  it('rates: flat ones → our names, calls per thousand, unknown ones omitted', () => {
    const rates = { input_mtok: 1, output_mtok: 2, cache_read_mtok: 3, cache_write_mtok: 4, input_audio_mtok: 5 };
    const more = { cache_audio_read_mtok: 6, output_audio_mtok: 7, input_image_mtok: 8, input_video_mtok: 9 };
    const beside = {
      cache_image_read_mtok: 10,
      output_video_mtok: 1,
      output_reasoning_mtok: 1,
      output_citation_mtok: 0.5,
    };
    const calls = { web_searches_kcount: 11, storage_searches_kcount: 12, requests_kcount: 13 };
    expect(priceOf({ ...rates, ...more, ...beside, ...calls, input_document_kpages: 9 })).toEqual({
      ...{ input: 1, output: 2, cached_input: 3, cache_write: 4, audio_input: 5 },
      ...{ cached_audio_input: 6, audio_output: 7, image_input: 8, video_input: 9 },
      ...{ cached_image_input: 10, video_output: 1, reasoning_output: 1, citation_output: 0.5 },
      ...{ per_1k_web_searches: 11, per_1k_file_searches: 12, per_1k_requests: 13 },
    });
  });

  it('deprecated → marked; any other model → not marked', () => {
    const model = { id: 'model', match: { equals: 'model' }, prices: { input_mtok: 1, output_mtok: 2 } };
    expect(toModelPrice({ ...model, deprecated: true }, TODAY)).toEqual({ input: 1, output: 2, deprecated: true });
    expect(toModelPrice({ ...model, deprecated: false }, TODAY)).toEqual({ input: 1, output: 2 });
  });

  it('tiers: one tier → threshold and long rates', () => {
    const input_mtok = { base: 1, tiers: [{ start: 200_000, price: 2 }] };
    const output_mtok = { base: 10, tiers: [{ start: 200_000, price: 15 }] };
    expect(priceOf({ input_mtok, output_mtok, cache_read_mtok: 0.5 })).toEqual({
      ...{ input: 1, long_input: 2, output: 10, long_output: 15, cached_input: 0.5 },
      long_context_threshold: 200_000,
    });
  });

  it('tiers: several → lowest threshold with the most expensive rate', () => {
    const tiers = [
      { start: 128_000, price: 2 },
      { start: 1_000_000, price: 4 },
    ];
    expect(priceOf({ input_mtok: { base: 1, tiers }, output_mtok: 3 })).toEqual({
      ...{ input: 1, long_input: 4, output: 3, long_context_threshold: 128_000 },
    });
  });

  it('output: images more expensive than text → the higher rate for counts without a split', () => {
    expect(priceOf({ input_mtok: 1, output_mtok: 3, output_image_mtok: 60 })).toEqual({
      ...{ input: 1, output: 60, text_output: 3, image_output: 60 },
    });
    const output_mtok = { base: 3, tiers: [{ start: 10, price: 5 }] };
    expect(priceOf({ input_mtok: 1, output_mtok, output_video_mtok: 4 })).toMatchObject({ output: 4, long_output: 5 });
  });

  it('output: an embedding model → costs nothing', () => {
    expect(priceOf({ input_mtok: 0.02 })).toEqual({ input: 0.02, output: 0 });
    expect(priceOf({ input_mtok: 0.02, output_audio_mtok: 4 })).toEqual({ input: 0.02, audio_output: 4 });
  });

  it('time: hours of audio → per hour', () => {
    expect(priceOf({ audio_hours: 0.36, input_audio_hours: 0.36 })).toEqual({ per_hour: 0.36 });
  });

  it('dated: a price that starts today → in force, one that starts tomorrow is not', () => {
    const prices: ModelInfo['prices'] = [
      { prices: { input_mtok: 1, output_mtok: 1 } },
      { constraint: { type: 'start_date', start_date: '2026-11-20' }, prices: { input_mtok: 2, output_mtok: 2 } },
      { constraint: { type: 'start_date', start_date: '2026-11-21' }, prices: { input_mtok: 9, output_mtok: 9 } },
    ];
    expect(priceOf(prices)).toEqual({ input: 2, output: 2 });
    expect(priceOf(prices, '2026-11-19')).toEqual({ input: 1, output: 1 });
    expect(priceOf(prices, '2027-01-01')).toEqual({ input: 9, output: 9 });
  });

  it('dated: hours of the day → the most expensive rate that can apply now', () => {
    const hours = { type: 'time_of_date', start_time: '01:00:00Z', end_time: '04:00:00Z' } as const;
    const prices: ModelInfo['prices'] = [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: { type: 'start_date', start_date: '2026-08-17' }, prices: { input_mtok: 1, output_mtok: 1 } },
      { constraint: hours, prices: { input_mtok: 2, output_mtok: 3 } },
      { constraint: hours, prices: { input_mtok: 0.5, output_mtok: 0.5 } },
    ];
    expect(priceOf(prices)).toEqual({ input: 2, output: 3 });
  });

  it('none: no entry in force or no rates → no price', () => {
    const future = { type: 'start_date', start_date: '2099-01-01' } as const;
    expect(priceOf([{ constraint: future, prices: { input_mtok: 1, output_mtok: 1 } }])).toEqual({});
    expect(priceOf({})).toEqual({});
  });
});
