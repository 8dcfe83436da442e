import { describe, expect, it } from '@jest/globals';
import { readRevocationList } from './revocation-list.rules.js';

const read = (text: string) => readRevocationList(Buffer.from(text));
const listed = (entries: Record<string, unknown>) => read(JSON.stringify({ entries }));
const REVOKED = { status: 'REVOKED', reason: 'KEY_COMPROMISE' };

describe('readRevocationList', () => {
  it('hexadecimal serial numbers → lower case without leading zeros', () => {
    expect(listed({ '00C35747a0': REVOKED, ab1: { status: 'SUSPENDED', expires: '2030-01-01' } })).toEqual([
      { serial: 'c35747a0', status: 'REVOKED' },
      { serial: 'ab1', status: 'SUSPENDED' },
    ]);
  });

  it('digits alone → read both as hexadecimal and as decimal', () => {
    expect(listed({ '6681152659205225093': REVOKED })?.map(({ serial }) => serial)).toEqual([
      '6681152659205225093',
      '5cb838f1fe157a85',
    ]);
  });

  it('the same number twice → listed once, with its last status', () => {
    expect(listed({ '0a': REVOKED, A: { status: 'SUSPENDED' } })).toEqual([{ serial: 'a', status: 'SUSPENDED' }]);
  });

  it('another status → revokes nothing', () => {
    expect(listed({ ab: { status: 'ACTIVE' }, cd: REVOKED })).toEqual([{ serial: 'cd', status: 'REVOKED' }]);
  });

  it('no entries, unknown members → an empty list', () => {
    expect(read('{"entries":{},"version":2}')).toEqual([]);
  });

  it.each([
    '',
    'null',
    '[]',
    '"entries"',
    '{"entries":{"ab":{"status":"REVOKED"}',
    '<html></html>',
    '{}',
    '{"entries":null}',
    '{"entries":[]}',
    '{"entries":"ab"}',
    '{"entries":{"":{"status":"REVOKED"}}}',
    '{"entries":{"0xab":{"status":"REVOKED"}}}',
    '{"entries":{"-1":{"status":"REVOKED"}}}',
    '{"entries":{"ab cd":{"status":"REVOKED"}}}',
    '{"entries":{"__proto__":{"status":"REVOKED"}}}',
    `{"entries":{"${'a'.repeat(65)}":{"status":"REVOKED"}}}`,
    '{"entries":{"ab":"REVOKED"}}',
    '{"entries":{"ab":null}}',
    '{"entries":{"ab":[]}}',
    '{"entries":{"ab":{}}}',
    '{"entries":{"ab":{"status":1}}}',
    '{"entries":{"cd":{"status":"REVOKED"},"ab":{"status":null}}}',
  ])('%j → the whole list is malformed', (text) => {
    expect(read(text)).toBeUndefined();
  });
});
