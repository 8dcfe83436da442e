import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { parseAppConfig } from './app-config.js';

const parsed = (allowed_origins: unknown) => parseAppConfig({ ...rawServerConfig(), allowed_origins }).allowed_origins;
const refused = (message: string | RegExp) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) });

describe('allowed origins', () => {
  it.each([
    ...['https://app.example.com', 'https://app.example.com:8443', 'https://xn--bcher-kva.example', 'https://10.0.0.7'],
    ...['https://localhost', 'https://[2001:db8::1]:8443', 'http://localhost', 'http://localhost:5173'],
    ...['http://127.0.0.1:3000', 'http://[::1]:3000', 'capacitor://localhost', 'ionic://localhost'],
  ])('%s → accepted unchanged', (origin) => {
    expect(parsed([origin])).toEqual([origin]);
  });

  it.each([
    ...[
      'HTTPS://app.example.com',
      'https://APP.example.com',
      'https://app.example.com/',
      'https://app.example.com/page',
    ],
    ...['https://app.example.com:443', 'https://user@app.example.com', 'https://:word@app.example.com'],
    ...['https://app.example.com?', 'https://app.example.com#', 'https:app.example.com', 'https:\\\\app.example.com'],
  ])('%s → 400 with the form that browsers send', (origin) => {
    expect(() => parsed([origin])).toThrow(
      refused('^config\\.allowed_origins\\.0: must be exactly as browsers send it: "https://app\\.example\\.com"$'),
    );
  });

  it.each([
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://LocalHost:5173', 'http://localhost:5173'],
    ['http://localhost:80', 'http://localhost'],
    ['http://127.1:3000', 'http://127.0.0.1:3000'],
    ['http://[0:0:0:0:0:0:0:1]', 'http://[::1]'],
  ])('%s → 400 that names %s', (origin, form) => {
    expect(() => parsed([origin])).toThrow(refused(RegExp(`"${form.replace(/[[\]]/g, '\\$&')}"$`)));
  });

  it.each([
    ...['null', '*', 'https://*', 'https://*.example.com', 'app.example.com', '//app.example.com', 'https://'],
    ...[
      'https://a b.example',
      'file://',
      'file:///',
      'chrome-extension://abc',
      'capacitor://app',
      'capacitor://localhost/',
    ],
    ...['Ionic://localhost', 'ionic://localhost:80', 'ws://localhost', 'data:text/html,x', 'about:blank'],
    ...['https://a.example, https://b.example', 'https://a.example https://b.example'],
  ])('%s → 400 saying what an origin is', (origin) => {
    expect(() => parsed([origin])).toThrow(
      refused(/^config\.allowed_origins\.0: must be an https origin, .* wildcards/),
    );
  });

  it.each([
    ...['http://app.example.com', 'http://localhost.example.com', 'http://app.localhost', 'http://localhost.'],
    ...['http://127.0.0.2', 'http://0.0.0.0', 'http://10.0.0.7:3000', 'http://[::2]', 'http://[::ffff:127.0.0.1]'],
  ])('%s → 400: http is for this machine', (origin) => {
    expect(() => parsed([origin])).toThrow(
      refused(/^config\.allowed_origins\.0: must be https; http is for localhost/),
    );
  });

  it('the same origin twice → 400', () => {
    const origin = 'https://app.example.com';
    expect(() => parsed([origin, 'https://b.example', origin])).toThrow(
      refused(/^config\.allowed_origins: must not name an origin twice$/),
    );
  });

  it('more than 20, and anything but a list of text → 400', () => {
    const many = Array.from({ length: 21 }, (_unused, at) => `https://app-${at}.example.com`);
    expect(parsed(many.slice(1))).toEqual(many.slice(1));
    expect(() => parsed(many)).toThrow(refused(/^config\.allowed_origins: must have at most 20 entries$/));
    expect(() => parsed('https://app.example.com')).toThrow(refused(/^config\.allowed_origins: must be a list$/));
    expect(() => parsed(null)).toThrow(refused(/^config\.allowed_origins: must be a list$/));
    expect(() => parsed([null])).toThrow(refused(/^config\.allowed_origins\.0: must be text$/));
    expect(() => parsed([`https://${'a'.repeat(300)}.example`])).toThrow(refused(/at most 280 characters$/));
  });

  it('absent → absent; empty → empty', () => {
    expect(parseAppConfig(rawServerConfig())).not.toHaveProperty('allowed_origins');
    expect(parsed([])).toEqual([]);
  });
});
