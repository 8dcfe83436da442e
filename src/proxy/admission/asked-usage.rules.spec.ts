import { describe, expect, it } from '@jest/globals';
import { compilePrice } from '../../pricing/model-price.js';
import { NO_TOKENS } from '../../upstreams/usage/token-counts.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { askedByForm, askedByJson, readingOfAsked } from './asked-usage.rules.js';

const PICTURES = compilePrice({ per_image: 0.04, per_1k_characters: 1 });
const TOKENS = compilePrice({ input: 1, output: 2 });
const IN_A_TIER = compilePrice({ input: 1, output: 2, tiers: { flex: { per_request: 1 } } });
const MAKES = 'v1/images/generations';

const ofJson = (body: object, path = MAKES, price = PICTURES) =>
  askedByJson(scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES), path, price);

describe('quantities in a request', () => {
  it.each<[object, string, object]>([
    [{}, MAKES, { requests: 1, images: 1 }],
    [{ n: 3 }, MAKES, { requests: 1, images: 3 }],
    [{ n: null }, MAKES, { requests: 1, images: 1 }],
    [{ n: 2.5 }, MAKES, { requests: 1, images: 3 }],
    [{ n: 1e9 }, 'openai/v1/images/edits', { requests: 1, images: 1_000 }],
    [{ n: 3 }, 'v1/chat/completions', { requests: 1 }],
    [{ input: 'Grüß 👋' }, 'v1/audio/speech', { requests: 1, characters: 6 }],
    [{ input: '\u0041' }, 'v1/audio/speech', { requests: 1, characters: 1 }],
    [{ input: ['a'] }, 'v1/embeddings', { requests: 1 }],
  ])('%j on %s → %j', (body, path, asked) => {
    expect(ofJson(body, path)).toEqual(asked);
  });

  it('a price without such rates → nothing; with such a rate in a tier → as with its own', () => {
    expect(ofJson({ n: 3 }, MAKES, TOKENS)).toBeUndefined();
    expect(ofJson({ n: 3 }, MAKES, IN_A_TIER)).toEqual({ requests: 1, images: 3 });
  });

  it('characters without a rate → not counted; a text given twice → 400; a body above 1 MiB → its bytes count', () => {
    const alone = compilePrice({ per_image: 0.04 });
    expect(ofJson({ input: 'abc' }, MAKES, alone)).toEqual({ requests: 1, images: 1 });
    const twice = scanJson(Buffer.from('{"input":"a","input":"abc"}'), REQUEST_NAMES);
    expect(() => askedByJson(twice, 'v1/audio/speech', PICTURES)).toThrow('input: named twice');
    const long = { input: '👋'.repeat(300_000) };
    expect(ofJson(long, 'v1/audio/speech')?.characters).toBe(1_200_012);
  });

  it('a form → the number in its field', () => {
    const field = (content: string) => [{ name: 'n', content: Buffer.from(content) }] as never;
    expect(askedByForm(field('4'), 'v1/images/edits', PICTURES)).toEqual({ requests: 1, images: 4 });
    expect(askedByForm(field('x'), 'v1/images/edits', PICTURES)).toEqual({ requests: 1, images: 1 });
    expect(askedByForm([], 'v1/audio/transcriptions', TOKENS)).toBeUndefined();
  });
});

describe('an answer and the quantities of its request', () => {
  const asked = { requests: 1, images: 2 };
  const silent = { ...NO_TOKENS, usageSeen: false };

  it('a price for these alone → needs no usage in the answer', () => {
    expect(readingOfAsked(undefined, PICTURES, { asked, ending: 'whole' })).toEqual({
      ...{ ...NO_TOKENS, usageSeen: true, parts: asked },
    });
  });

  it('tokens with rates → still need the usage', () => {
    const price = compilePrice({ input: 1, output: 2, per_image: 0.04 });
    expect(readingOfAsked(silent, price, { asked, ending: 'whole' })).toMatchObject({ usageSeen: false, parts: asked });
  });

  it('no answer, a refusal, an error inside a 200, a price without such rates → the usage as read', () => {
    for (const ending of ['unsent', 'unanswered', 'refused'] as const)
      expect(readingOfAsked(undefined, PICTURES, { asked, ending })).toBeUndefined();
    const failed = { ...silent, failure: 'before_content' } as const;
    expect(readingOfAsked(failed, PICTURES, { asked, ending: 'whole' })).toBe(failed);
    expect(readingOfAsked(silent, TOKENS, { asked: undefined, ending: 'whole' })).toBe(silent);
  });

  it('a named endpoint → the quantities of the request itself', () => {
    const price = compilePrice({ per_request: 0.01 });
    expect(readingOfAsked(undefined, price, { asked: undefined, ending: 'cut' })?.parts).toEqual({ requests: 1 });
  });
});
