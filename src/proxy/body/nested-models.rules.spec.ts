import { describe, expect, it } from '@jest/globals';
import { NO_CHARGE } from '../../pricing/model-price.js';
import { applyEdits } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { nestedModelEdits, nestedNamesOf } from './body-models.rules.js';

const COUNT = 'v1beta/models/a:countTokens';
const EMBED = 'v1beta/models/a:batchEmbedContents';

/** The body after validation on a path that names `a`, with `wire` as the model to send. */
function checked(path: string, body: string, wire = 'a'): string {
  const names = nestedNamesOf(path);
  if (names === undefined) throw new Error('the path has no models inside of its bodies');
  const bytes = Buffer.from(body);
  const model = { requested: 'a', canonical: wire, wire, price: NO_CHARGE, source: 'path' as const };
  return applyEdits(bytes, nestedModelEdits(scanJson(bytes, names), model)).toString();
}

describe('models inside a body', () => {
  it.each(['v1/responses', 'v1beta/models/a:generateContent', 'v1beta/models/a:embedContent', 'v1/countTokens'])(
    '%s → no models to look for',
    (path) => {
      expect(nestedNamesOf(path)).toBeUndefined();
    },
  );

  it.each([
    [COUNT, '{"contents":[]}'],
    [COUNT, '{"generateContentRequest":{"model":"models/a"}}'],
    [COUNT, '{"generateContentRequest":{"model":null,"cachedContent":null}}'],
    [COUNT, '{"generateContentRequest":{"contents":[{"model":"b"}]},"other":{"model":"b"}}'],
    [EMBED, '{"requests":[{"model":"a"},{"model":"models/a"},{}]}'],
    [EMBED, '{"requests":[{"content":{"parts":[{"text":"\\"model\\":\\"b\\""}]}}]}'],
  ])('%s %s → unchanged', (path, body) => {
    expect(checked(path, body)).toBe(body);
  });

  it.each([
    [COUNT, '{"generateContentRequest":{"model":"b"}}', 'generateContentRequest.model: must be the model'],
    [COUNT, '{"generate_content_request":{"mod\\u0065l":"b"}}', 'generate_content_request.model: must be the model'],
    [COUNT, '{"generateContentRequest":{"model":7}}', 'generateContentRequest.model: must be text'],
    [COUNT, '{"generateContentRequest":{"model":"a","model":"b"}}', 'generateContentRequest.model: '],
    [COUNT, '{"generateContentRequest":{"Model":"b"}}', 'generateContentRequest.model: '],
    [COUNT, '{"generateContentRequest":{},"generateContentRequest":{"model":"b"}}', 'generateContentRequest: '],
    [COUNT, '{"generateContentRequest":{"cached_content":"c"}}', 'generateContentRequest.cached_content: '],
    [EMBED, '{"requests":[{"model":"a"},{"model":"b"}]}', 'requests.model: must be the model'],
    [EMBED, '{"requests":[{"MODEL":"b"}]}', 'requests.model: must be the model'],
    [EMBED, '{"requests":[{"model":["a"]}]}', 'requests.model: must be text'],
    [EMBED, '{"requests":[{"model":"models/models/a"}]}', 'requests.model: must be the model'],
  ])('%s %s → 400 naming the member', (path, body, message) => {
    expect(() => checked(path, body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(message) }),
    );
  });

  it('a rewritten model → all of its occurrences change, each in its own notation', () => {
    expect(checked(EMBED, '{"requests":[{"model":"a"},{"x":1,"model":"models/a"}]}', 'w')).toBe(
      '{"requests":[{"model":"w"},{"x":1,"model":"models/w"}]}',
    );
    expect(checked(COUNT, '{"generateContentRequest":{"model":"models/a"}}', 'w')).toBe(
      '{"generateContentRequest":{"model":"models/w"}}',
    );
  });
});
