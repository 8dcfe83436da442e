import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { instantOf } from '../common/clock.js';
import { eventWords, invitationWords, plainWords } from './mail-text.rules.js';

const CONSOLE = 'https://gateway.example.com';
const HOSTILE = 'Acme\r\nBcc: eve@evil.com\u202e\u2028 https://evil.com/x';
const bodyOf = (data: object) =>
  JSON.stringify({ type: 'app_key.created', timestamp: '2026-11-28T12:00:00.000Z', data });

describe('plainWords', () => {
  it.each([
    ['Ada Lovelace', 'Ada Lovelace'],
    ['a\r\nb\tc\u0000d', 'a b c d'],
    ['a\u202eb\u200bc\ufeffd', 'a b c d'],
    ['https://evil.com/x', 'https:// evil. com/ x'],
    ['http://1.2.3.4', 'http:// 1.2.3.4'],
    ['gpt-4.1-mini', 'gpt-4.1-mini'],
    ['2026-11-28T12:00:00.000Z', '2026-11-28T12:00:00.000Z'],
  ])('%j → %j', (text, expected) => {
    expect(plainWords(text)).toBe(expected);
  });

  it('any text → one line of at most that many characters, without invisible ones', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const words = plainWords(text, 80);
        expect(words).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\r\n]|:\/\/\p{L}/u);
        expect(Array.from(words).length).toBeLessThanOrEqual(80);
      }),
    );
  });
});

describe('the mail of an event', () => {
  const means = 'An application key was created.';

  it('→ the subject says what and where; each fact has its line; a link to continue', () => {
    const data = {
      account: 'account-4f0c2a',
      app: null,
      details: { name: 'Deployment' },
      changes: [{ path: 'a', to: 1 }],
    };
    expect(eventWords({ means, accountName: 'Acme', body: bodyOf(data), consoleUrl: CONSOLE })).toEqual({
      subject: 'An application key was created (Acme)',
      text: [
        ...['An application key was created.', '', 'Account: Acme', 'Event: app_key.created'],
        ...['Time: 2026-11-28T12:00:00.000Z', 'account: account-4f0c2a', 'details.name: Deployment'],
        ...['changes.0.path: a', 'changes.0.to: 1', ''],
        ...[`Audit trail: ${CONSOLE}/audit`, `Choose your mails: ${CONSOLE}/settings/mail`],
      ].join('\n'),
    });
  });

  it('hostile names and values → cannot add a line or a link', () => {
    const body = bodyOf({ [HOSTILE]: HOSTILE, details: { name: HOSTILE } });
    const { subject, text } = eventWords({ means, accountName: HOSTILE, body, consoleUrl: CONSOLE });
    expect(subject).not.toMatch(/[\r\n\u202e\u2028]/);
    expect(text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
    expect(text.replaceAll(CONSOLE, '')).not.toMatch(/:\/\/\S|evil\.com/);
  });

  it('hundreds of facts → the first sixty, and how many more', () => {
    const changes = Array.from({ length: 200 }, (_, path) => ({ path: String(path) }));
    const { text } = eventWords({ means, accountName: 'Acme', body: bodyOf({ changes }), consoleUrl: CONSOLE });
    expect(text).toContain('140 more details');
    expect(text.split('\n').length).toBeLessThan(80);
  });
});

describe('the mail of an invitation', () => {
  const offer = { role: 'admin', expiresAt: instantOf(Date.UTC(2026, 11, 5)), link: `${CONSOLE}/invite#token` };

  it('→ who invites to what, the link once, and when it expires', () => {
    const { subject, text } = invitationWords({ ...offer, accountName: 'Acme', inviterName: 'Ada' });
    expect(subject).toBe('Invitation to “Acme”');
    expect(text).toContain('“Ada” invites you to the account “Acme” on an AI gateway, as admin.');
    expect(text).toContain(`until 2026-12-05 (UTC):\n${offer.link}\n`);
  });

  it('hostile names → cannot add a line, or a link besides the invitation’s', () => {
    const { subject, text } = invitationWords({ ...offer, accountName: HOSTILE, inviterName: HOSTILE });
    expect(subject).not.toMatch(/[\r\n]/);
    expect(text.replaceAll(offer.link, '')).not.toMatch(/:\/\/\S|evil\.com/);
  });
});
