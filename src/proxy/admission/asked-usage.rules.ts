import { isPricedByRequest } from '../../pricing/cost.rules.js';
import type { CompiledPrice, RequestRates } from '../../pricing/model-price.js';
import { NO_TOKENS, partsAboveZero, type UsageParts, type UsageReading } from '../../upstreams/usage/token-counts.js';
import type { CallEnding } from '../../usage/recording/usage-event.js';
import { type FormPart, findFormField } from '../forms/multipart-form.js';
import { CheckedMembers } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { isNamed, memberValue, type ScannedBody } from '../json/scanned-body.js';

/** No provider serves a request for more images. */
const MOST_IMAGES = 1_000;
const IMAGE_PATH = /(?:^|\/)images\//;
const WHOLE_NUMBER = /^\d{1,4}$/;
const QUOTE = 0x22;
const MAX_TEXT_BYTES = 1024 * 1024;
/** The text of a request; a duplicate would be ambiguous. */
const TEXT = new CheckedMembers({ root: ['input'], nested: {}, deep: [], media: [] });
const ASKED_RATES = ['perRequest', 'perImage', 'characters'] as const satisfies (keyof RequestRates)[];

/**
 * What a JSON request asks for: images on a path that makes them, and the characters of its `input` text. Undefined
 * where the price has no rates for that.
 *
 * @param path below the base URL.
 * @throws invalid_request the text is given twice.
 * Source: docs/reference/accounting.md#cost-of-a-call.
 */
export function askedByJson(
  { bytes, root }: ScannedBody,
  path: string,
  price: CompiledPrice | undefined,
): UsageParts | undefined {
  if (!hasAskedRates(price)) return undefined;
  const n = root.members.get('n');
  return partsAboveZero({
    requests: 1,
    images: imagesOf(path, isNamed(bytes, n) ? memberValue(bytes, n, 'n') : undefined),
    characters: hasRate(price, 'characters') ? charactersOf(bytes) : 0,
  });
}

/** Characters of `input`; bytes in a body that is longer than any text priced by characters. */
function charactersOf(body: Buffer): number {
  if (body.length > MAX_TEXT_BYTES) return body.length;
  const { bytes, root } = scanJson(body, TEXT);
  const input = root.members.get('input');
  if (input === undefined || bytes[input.start] !== QUOTE) return 0;
  return [...String(memberValue(bytes, input, 'input', bytes.length))].length;
}

/** The same of a form, whose number of images is a field. */
export function askedByForm(
  parts: readonly FormPart[],
  path: string,
  price: CompiledPrice | undefined,
): UsageParts | undefined {
  if (!hasAskedRates(price)) return undefined;
  const n = findFormField(parts, 'n') ?? '';
  return partsAboveZero({ requests: 1, images: imagesOf(path, WHOLE_NUMBER.test(n) ? Number(n) : undefined) });
}

/**
 * The reading of an answer together with what its request asked for. A price for that alone needs no usage in the
 * answer.
 *
 * @param asked undefined without parts of its own: a named endpoint.
 */
export function readingOfAsked(
  reading: UsageReading | undefined,
  price: CompiledPrice | undefined,
  { asked, ending }: { readonly asked: UsageParts | undefined; readonly ending: CallEnding },
): UsageReading | undefined {
  const isAnswered = ending === 'whole' || ending === 'cut';
  if (price === undefined || !hasAskedRates(price) || !isAnswered || reading?.failure !== undefined) return reading;
  const usageSeen = isPricedByRequest(price) || (reading?.usageSeen ?? false);
  return { ...NO_TOKENS, ...reading, usageSeen, parts: { ...reading?.parts, ...(asked ?? { requests: 1 }) } };
}

function hasAskedRates(price: CompiledPrice | undefined): boolean {
  return ASKED_RATES.some((rate) => hasRate(price, rate));
}

function hasRate(price: CompiledPrice | undefined, rate: keyof RequestRates): boolean {
  return [price, ...Object.values(price?.tiers ?? {})].some((tier) => tier?.asked?.[rate] !== undefined);
}

function imagesOf(path: string, n: unknown): number {
  if (!IMAGE_PATH.test(path)) return 0;
  return typeof n === 'number' && n >= 1 ? Math.min(Math.ceil(n), MOST_IMAGES) : 1;
}
