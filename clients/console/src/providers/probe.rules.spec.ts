import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../api/api-error';
import { markOf, verdictOf, verdictOfError } from './probe.rules';

const errorOf = (code: string) =>
  ApiError.of(new Response('', { status: 400 }), {
    error: { code, message: 'The provider refused this key with status 401.' },
  });

describe('verdictOf', () => {
  it('accepted → good, every other result is not', () => {
    expect(verdictOf({ validated: true }, 'OpenAI')).toMatchObject({
      tone: 'good',
      text: 'OpenAI accepts the key.',
      isAccepted: true,
      isRefused: false,
    });
    expect(verdictOf({ validated: true }, 'Vercel', 'token').text).toBe('Vercel accepts the token.');
    for (const reason of ['unreachable', 'unexpected_status', 'no_probe'] as const) {
      const verdict = verdictOf({ validated: false, reason, status: 503 }, 'OpenAI');
      expect(verdict).toMatchObject({ tone: 'warn', isAccepted: false, isRefused: false });
      expect(verdict.text).toContain('OpenAI');
      expect(verdict.text).not.toMatch(/undefined|unreachable|no_probe|unexpected_status/);
    }
  });

  it('404 → explains that the base URL may be wrong; other statuses do not', () => {
    const of = (status: number) => verdictOf({ validated: false, reason: 'unexpected_status', status }, 'OpenAI').text;
    expect(of(404)).toContain('such as /v1');
    expect(of(503)).not.toContain('/v1');
  });

  it('a gateway that rejects its token → refused', () => {
    const verdict = verdictOf({ validated: false, reason: 'rejected', status: 403 }, 'Cloudflare', 'token');
    expect(verdict).toMatchObject({
      tone: 'bad',
      isRefused: true,
      text: 'Cloudflare refused this token with status 403.',
    });
  });
});

describe('verdictOfError', () => {
  it('a refused key → a verdict; any other error → rethrown', () => {
    expect(verdictOfError(errorOf('provider_key_invalid'))).toMatchObject({ tone: 'bad', isRefused: true });
    expect(() => verdictOfError(errorOf('invalid_request'))).toThrow();
  });
});

it('marks → only an accepted key is green, only a refused one red', () => {
  const at = '2026-01-31T12:00:00.000Z';
  expect(markOf({ at, result: 'accepted' }).tone).toBe('good');
  expect(markOf({ at, result: 'refused' }).tone).toBe('bad');
  expect(markOf({ at, result: 'unreachable' }).tone).toBe('warn');
  expect(markOf({ at, result: 'unexpected_status' }).tone).toBe('warn');
});
