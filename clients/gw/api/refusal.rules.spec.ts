import { describe, expect, it } from '@jest/globals';
import { refusal } from './refusal.rules.js';

const answer = (status: number, headers: Record<string, string> = {}) => ({
  ...{ status, headers: new Headers(headers), url: 'https://gateway.example.com/v1/x' },
});

describe('a refusal', () => {
  it('of the gateway → its code and message, with the other data of the answer', () => {
    const body = { error: { code: 'slug_taken', message: 'Taken.', data: { slug: 'a' } } };
    const { code, message, exitCode, details, nextAction } = refusal(answer(409, { 'x-request-id': 'r1' }), body);
    expect([code, message, exitCode, nextAction]).toEqual(['slug_taken', 'Taken.', 4, null]);
    expect(details).toEqual({ status: 409, requestId: 'r1', data: { slug: 'a' } });
  });

  it.each([
    [502, { 'content-type': 'text/html; charset=utf-8' }, 3, 'text/html', 'the gateway runs'],
    [302, { location: 'https://other.example.com/' }, 3, '302', 'https://other.example.com/'],
    [403, { 'content-type': 'text/html' }, 4, '403', 'proxy'],
    [404, {}, 2, '404', 'address'],
  ])('%i from something else → reported as such', (status, headers, exitCode, message, advice) => {
    const failure = refusal(answer(status, headers as Record<string, string>), '<html>');
    expect([failure.exitCode, failure.code]).toEqual([exitCode, `http_${status}`]);
    expect(failure.message).toContain(message);
    expect(failure.nextAction).toContain(advice);
  });
});
