import { describe, expect, it } from '@jest/globals';
import { refuseRepeatedHeaders } from './repeated-headers.rules.js';

const DECISIVE = [
  'Authorization',
  'Content-Length',
  'Content-Type',
  'Host',
  'Idempotency-Key',
  'Transfer-Encoding',
  'X-Api-Key',
  'X-App-Version',
  'X-Console-Request',
  'X-Goog-Api-Key',
  'X-Idempotency-Proof',
];

describe('repeated headers', () => {
  it.each(DECISIVE)('%s twice, in any case and with other headers between → refused by name', (name) => {
    const headers = [name, 'a', 'Accept', 'x', 'x-other', 'y', name.toUpperCase(), 'a'];
    const message = `${name.toLowerCase()}: header is sent more than once`;
    expect(() => refuseRepeatedHeaders(headers)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, reason: 'header_repeated', message }),
    );
  });

  it('every decisive header once → accepted', () => {
    expect(() => refuseRepeatedHeaders(DECISIVE.flatMap((name) => [name, 'a']))).not.toThrow();
  });

  it('headers that may repeat, some as long as a decisive one → accepted', () => {
    const names = ['accept', 'cookie', 'x-forwarded-for', 'via', 'x-stainless-os', 'link'];
    expect(names.some((name) => DECISIVE.some((decisive) => decisive.length === name.length))).toBe(true);
    expect(() => refuseRepeatedHeaders(names.flatMap((name) => [name, '1', name, '2']))).not.toThrow();
  });

  it('a value that is named like a header → not mistaken for one', () => {
    expect(() => refuseRepeatedHeaders(['host', 'host', 'x-a', 'host'])).not.toThrow();
  });

  it('no headers → accepted', () => {
    expect(() => refuseRepeatedHeaders([])).not.toThrow();
  });
});
