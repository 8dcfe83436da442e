import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { requireUncommonPassword } from './common-password.rules.js';
import { COMMON_PASSWORDS } from './common-passwords.js';

const judge = (text: string) => () => requireUncommonPassword('newPassword', new Secret(text));

describe('common passwords', () => {
  it.each(['password', 'PassWord', 'password1', 'qwertyuiop', '1234567890', 'Passw0rd', 'iloveyou1', 'trustno1'])(
    '%s → refused, with what to do',
    (common) => expect(judge(common)).toThrow(/^newPassword: is among the most common passwords, .*choose another/),
  );

  it.each(['correct horse battery', 'password password', ' password', 'constructor', '__proto__', 'ゆうしゃのつるぎ'])(
    '%s → accepted',
    (own) => expect(judge(own)).not.toThrow(),
  );

  it('the list → every entry of eight or more characters, in lower case, once and in order', () => {
    const words = COMMON_PASSWORDS.trim().split(/\s+/);
    expect(words.length).toBeGreaterThan(10_000);
    expect(words.every((word) => word.length >= 8 && word === word.toLowerCase())).toBe(true);
    expect([...new Set(words)].sort()).toEqual(words);
  });
});
