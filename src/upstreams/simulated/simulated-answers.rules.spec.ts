import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { simulatedAnswer } from './simulated-answers.rules.js';

const at = (path: string, body: unknown) => simulatedAnswer(path, JSON.stringify(body), 1_700_000_000);

describe('simulated answers', () => {
  it('usage in a stream → only if it is requested', () => {
    const request = { model: 'm', stream: true, messages: [] };
    const plain = at('/v1/chat/completions', request).pieces.join('');
    const counted = at('/v1/chat/completions', { ...request, stream_options: { include_usage: true } }).pieces.join('');
    expect([plain.includes('"usage"'), counted.includes('"usage"')]).toEqual([false, true]);
    expect([plain, counted].every((text) => text.endsWith('data: [DONE]\n\n'))).toBe(true);
  });

  it('an unknown path → 404 in the provider’s own format', () => {
    const { status, pieces } = at('/v1/embeddings', {});
    expect([status, JSON.parse(pieces.join('')).error.type]).toEqual([404, 'invalid_request_error']);
  });

  it('any body → an answer of JSON or a stream, without an exception', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('/v1/chat/completions', '/v1/responses', '/'),
        fc.oneof(fc.string(), fc.json()),
        (path, body) => {
          const { status, contentType, pieces } = simulatedAnswer(path, body, 0);
          expect([200, 400, 404]).toContain(status);
          if (contentType === 'application/json') expect(() => JSON.parse(pieces.join(''))).not.toThrow();
          else expect(pieces.every((piece) => piece.endsWith('\n\n'))).toBe(true);
        },
      ),
    );
  });

  it.each([0, -1, 1.5, 1e9, null, '7'])('a ceiling of %j → at least one word', (ceiling) => {
    const { pieces } = at('/v1/chat/completions', { max_tokens: ceiling });
    expect(JSON.parse(pieces.join('')).usage.completion_tokens).toBeGreaterThanOrEqual(1);
  });
});
