import { describe, expect, it } from '@jest/globals';
import { sentCredentials } from './play-credentials.rules';

describe('pasted credentials', () => {
  it.each([
    [' AAAA\n BBBB \n', { decryption_key: 'AAAA', verification_key: 'BBBB' }],
    ['{"type": "service_account"}\n', { service_account: '{"type": "service_account"}' }],
    ['{ }', { service_account: '{ }' }],
    ['AAAA', { service_account: 'AAAA' }],
    ['A B C', { service_account: 'A B C' }],
  ])('%j → %j', (text, sent) => {
    expect(sentCredentials(text)).toEqual(sent);
  });
});
