import { describe, expect, it } from '@jest/globals';
import { isPlainAddress, parseMailFrom, parseSmtpUrl } from './smtp-settings.rules.js';

describe('SMTP_URL', () => {
  it.each([
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, isTls: true, login: undefined }],
    ['smtp://127.0.0.1:2525', { host: '127.0.0.1', port: 2525, isTls: false, login: undefined }],
    ['smtp://[::1]', { host: '::1', port: 587, isTls: false, login: undefined }],
  ])('%s → accepted', (text, expected) => {
    expect(parseSmtpUrl(text)).toEqual(expected);
  });

  it('user and password → decoded, the password as a secret', () => {
    const { login } = parseSmtpUrl('smtps://a%40b:p%2Fw@mail.example.com');
    expect([login?.user, login?.password.reveal(), JSON.stringify(login)]).toEqual([
      ...['a@b', 'p/w', '{"user":"a@b","password":"[secret]"}'],
    ]);
  });

  it.each([
    '',
    'mail.example.com',
    'https://mail.example.com',
    'smtp://',
    'smtp://host/path',
    'smtp://host?pool=true',
    'smtp://user@host',
    'smtp://:word@host',
    'smtp://%ff:word@host',
  ])('"%s" → refused, without repeating it', (text) => {
    expect(() => parseSmtpUrl(text)).toThrow(/^must /);
  });
});

describe('MAIL_FROM', () => {
  it.each([
    ['gateway@example.com', { name: '', address: 'gateway@example.com' }],
    [' The Gateway <gateway@example.com> ', { name: 'The Gateway', address: 'gateway@example.com' }],
  ])('%s → accepted', (text, expected) => {
    expect(parseMailFrom(text)).toEqual(expected);
  });

  it.each(['', 'nobody', 'a@b, c@d', 'A\nBcc: x <a@b>', '<a@b> c', 'a@b\r\nBcc: c@d', '"x" <a@b>'])(
    '%j → refused',
    (text) => {
      expect(() => parseMailFrom(text)).toThrow('must be an address');
    },
  );
});

describe('isPlainAddress', () => {
  it.each(['ada@example.com', 'ada+x@exämple.com', "o'neil@example.com"])('%s → yes', (text) => {
    expect(isPlainAddress(text)).toBe(true);
  });

  it.each(['a@b,c@d', 'a@b>', '"a b"@c', 'a@b\nc', 'a@b\u202e', 'a@b@c', 'undisclosed:;', ' a@b'])(
    '%j → no',
    (text) => {
      expect(isPlainAddress(text)).toBe(false);
    },
  );
});
