import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { baseUrlWarning, parseProviderBaseUrl } from './base-url.rules.js';
import type { ProviderType } from './provider-types.js';

const nobody = () => false;
const everybody = () => true;

describe('parseProviderBaseUrl', () => {
  it.each([
    ['https://api.acme.com', 'https://api.acme.com/'],
    ['HTTPS://API.Acme.COM/V1', 'https://api.acme.com/V1/'],
    ['https://api.acme.com:443/v1//', 'https://api.acme.com/v1/'],
    ['https://api.acme.com:/a%20b/c/', 'https://api.acme.com/a%20b/c/'],
    ['https://xn--bcher-kva.de/', 'https://xn--bcher-kva.de/'],
  ])('%s → %s', (raw, canonical) => {
    expect(parseProviderBaseUrl(raw, nobody)).toBe(canonical);
  });

  it.each([
    ['http://api.acme.com', 'must use https'],
    ['ftp://api.acme.com', 'must be an https URL'],
    ['https:api.acme.com', 'must be an https URL'],
    ['https:///api.acme.com', 'must be an https URL'],
    ['', 'must be an https URL'],
    [`https://api.acme.com/${'a'.repeat(180)}`, 'at most 200'],
    ['https://u:p@api.acme.com', 'must not contain "@"'],
    ['https://api.acme.com/?x', 'must not contain "?"'],
    ['https://api.acme.com/#x', 'must not contain "#"'],
    ['https://api.acme.com\\x', 'must not contain "\\"'],
    ['https://api.acme.com/a b', 'without spaces'],
    ['https://api.acme.com\t', 'without spaces'],
    ['https://bücher.de', 'printable ASCII'],
    ['https://{account}.acme.com/v1', 'must not have braces'],
    ['https://api.acme.com/{account}/v1', 'must not have braces'],
    ['https://api.acme.com/%7Baccount%7d/v1', 'must not have braces'],
    ['https://api.acme.com:8443', 'default port'],
    ['https://api.acme.com:99999', 'valid host and port'],
    ['https://:443', 'valid host and port'],
    ['https://127.0.0.1', 'not an address'],
    ['https://2130706433', 'not an address'],
    ['https://0x7f.1', 'not an address'],
    ['https://0177.0.0.1', 'not an address'],
    ['https://[::1]', 'not an address'],
    ['https://[::ffff:127.0.0.1]', 'not an address'],
    ['https://api%2eacme.com', 'escapes in its host'],
    ['https://localhost', 'single label'],
    ['https://api.acme.com.', 'dot'],
    ['https://api..acme.com', 'valid host name'],
    ['https://-api.acme.com', 'valid host name'],
    ['https://a_b.acme.com', 'valid host name'],
    [`https://${'a'.repeat(64)}.com`, 'valid host name'],
    ['https://db.internal', '".internal" is not'],
    ['https://api.EXAMPLE', '".example" is not'],
    ['https://api.acme.com/a/../b', 'plain path'],
    ['https://api.acme.com/%2e%2E/b', 'plain path'],
    ['https://api.acme.com/a//b', 'plain path'],
    ['https://api.acme.com/a%2fb', 'plain path'],
  ])('%s → invalid_request saying "%s"', (raw, rule) => {
    const refusal = { code: 'invalid_request', message: expect.stringContaining(rule) };
    expect(() => parseProviderBaseUrl(raw, nobody)).toThrow(expect.objectContaining(refusal));
  });

  it.each([
    ['http://localhost:11434/v1', 'localhost', 11434, 'http://localhost:11434/v1/'],
    ['http://10.0.0.7', '10.0.0.7', 80, 'http://10.0.0.7/'],
    ['http://[FD00::1]:80', 'fd00::1', 80, 'http://[fd00::1]/'],
    ['https://models', 'models', 443, 'https://models/'],
  ])('trusted %s → asked for %s port %i, stored as %s', (raw, host, port, canonical) => {
    const asked: [string, number][] = [];
    const trust = (askedHost: string, askedPort: number) => asked.push([askedHost, askedPort]) > 0;
    expect(parseProviderBaseUrl(raw, trust)).toBe(canonical);
    expect(asked).toEqual([[host, port]]);
  });

  it.each([
    'http://169.254.169.254/latest',
    'https://169.254.169.254',
    'http://2852039166',
    'http://0251.0376.0251.0376:80',
    'http://[::ffff:a9fe:a9fe]',
    'http://[fd00:ec2::254]',
    'https://metadata.google.internal/computeMetadata/v1',
    'http://METADATA',
    'https://100.100.100.200',
  ])('trusted by mistake, %s → still refused as a metadata address', (raw) => {
    expect(() => parseProviderBaseUrl(raw, everybody)).toThrow('baseUrl: must not be a cloud metadata address');
  });

  it.each(['http://u@localhost', 'http://localhost/../x', 'gopher://localhost', 'http://localhost./', 'http://x:0'])(
    'trusted %s → the rules for the text still apply',
    (raw) => {
      expect(() => parseProviderBaseUrl(raw, everybody)).toThrow('baseUrl: ');
    },
  );

  it('any text → refused, or canonical: parsing it again changes nothing', () => {
    const piece = fc.constantFrom(
      'https://',
      'http://',
      'a.com',
      'API',
      '.',
      '/',
      '//',
      ':443',
      ':8',
      '%41',
      '1',
      '[::1]',
      '@',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.boolean(), (pieces, trusted) => {
        const trust = () => trusted;
        let canonical: string;
        try {
          canonical = parseProviderBaseUrl(pieces.join(''), trust);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' });
          return;
        }
        expect(canonical.endsWith('/')).toBe(true);
        expect(new URL(canonical).href).toBe(canonical);
        expect(parseProviderBaseUrl(canonical, trust)).toBe(canonical);
      }),
    );
  });
});

describe('a base URL with the beginning of the paths of its type', () => {
  it.each<[ProviderType, string, string]>([
    ['openai', 'v1/', 'v1/v1/models'],
    ['anthropic', 'team/v1/', 'team/v1/v1/models'],
    ['gemini', 'v1beta/', 'v1beta/v1beta/models'],
    ['groq', 'openai/v1/', 'openai/v1/openai/v1/models'],
    ['fireworks', 'inference/v1/', 'inference/v1/inference/v1/models'],
  ])('%s at /%s → a warning with the address that calls get', (type, path, called) => {
    const warning = baseUrlWarning(type, `https://ai.example.com/${path}`);
    expect(warning).toContain(`calls go to https://ai.example.com/${called}.`);
    expect(warning).toMatch(/Use https:\/\/ai\.example\.com\/(?:team\/)? unless/);
  });

  it.each<[ProviderType, string]>([
    ['openai', ''],
    ['openai', 'openai/'],
    ['openai', 'serves-v1/'],
    ['groq', 'v1/'],
    ['deepseek', 'v1/'],
    ['perplexity', 'v1/'],
    ['bytedance', 'api/v3/'],
  ])('%s at /%s → none', (type, path) => {
    expect(baseUrlWarning(type, `https://ai.example.com/${path}`)).toBeUndefined();
  });
});
