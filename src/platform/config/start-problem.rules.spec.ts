import { describe, expect, it } from '@jest/globals';
import { EnvironmentError } from './environment.js';
import { databaseProblem, dataDirProblem, listenProblem } from './start-problem.rules.js';

const failure = (code: string | undefined, members: object = {}, message = 'failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code }, members);

const sentence = (problem: unknown) => (problem instanceof EnvironmentError ? problem.message : undefined);

describe('listenProblem', () => {
  const ADDRESS = { HOST: '10.0.0.9', PORT: 80 };

  it.each([
    ['EADDRINUSE', 'PORT 80 is in use on 10.0.0.9 (EADDRINUSE): stop the program'],
    ['EACCES', 'PORT 80 is not open to this account (EACCES): set PORT to 1024 or above'],
    ['EADDRNOTAVAIL', 'HOST 10.0.0.9 is not an address of this machine (EADDRNOTAVAIL): set HOST'],
    ['ENOTFOUND', 'HOST 10.0.0.9 is not an address of this machine (ENOTFOUND): set HOST'],
  ])('%s → the setting and the fix', (code, words) => {
    expect(sentence(listenProblem(failure(code), ADDRESS))).toContain(words);
  });

  it('any other error of the program → unchanged', () => {
    const error = new TypeError('x is not a function');
    expect(listenProblem(error, ADDRESS)).toBe(error);
  });
});

describe('dataDirProblem', () => {
  it.each([
    ['EEXIST', { path: '/data' }, 'DATA_DIR /data is not a directory'],
    ['ENOTDIR', { path: '/data' }, 'DATA_DIR /data is not a directory'],
    ['EACCES', { path: '/data/journal' }, 'DATA_DIR /data cannot be used by this account (EACCES at /data/journal)'],
    ['EPERM', { path: '/data/postgres' }, 'cannot be used by this account (EPERM at /data/postgres)'],
    ['EROFS', { path: '/data' }, 'cannot be used by this account (EROFS at /data)'],
    ['ENOSPC', { path: '/data/.start-1' }, 'DATA_DIR /data has no space left (ENOSPC)'],
    ['EDQUOT', {}, 'DATA_DIR /data has no space left (EDQUOT)'],
  ])('%s of %j → the setting and the fix', (code, members, words) => {
    expect(sentence(dataDirProblem(failure(code, members), '/data'))).toContain(words);
  });

  it.each(['initdb failed: could not write: No space left on device', 'the log: Disk quota exceeded'])(
    'a program of Postgres says "%s" → a full disk',
    (message) => {
      expect(sentence(dataDirProblem(failure(undefined, {}, message), '/data'))).toContain('has no space left');
    },
  );

  it.each([
    failure('EACCES', { path: '/data-of-others/x' }),
    failure('ENOSPC', { path: '/etc/plans.json' }),
    failure('ECONNREFUSED'),
    failure(undefined),
    new EnvironmentError('PORT is wrong'),
  ])('about something else → unchanged', (error) => {
    expect(dataDirProblem(error, '/data')).toBe(error);
  });
});

describe('databaseProblem', () => {
  const OWN = { dataDir: '/data', embedded: false };

  it.each([
    ['28P01', 'a user or a password that Postgres refuses'],
    ['28000', 'a user or a password that Postgres refuses'],
    ['3D000', 'a database that does not exist'],
    ['42501', 'may not create tables'],
    ['53100', 'whose disk is full'],
    ['ECONNREFUSED', 'no Postgres that answers (ECONNREFUSED)'],
    ['57P03', 'no Postgres that answers (57P03)'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'whose certificate is not trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'whose certificate is not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'whose certificate is not trusted'],
  ])('%s → DATABASE_URL and the fix', (code, words) => {
    const said = sentence(databaseProblem(failure(code), OWN));
    expect(said).toMatch(/^DATABASE_URL /);
    expect(said).toContain(words);
  });

  it('the driver’s own messages → the same', () => {
    const noTls = failure(undefined, {}, 'The server does not support SSL connections');
    expect(sentence(databaseProblem(noTls, OWN))).toContain('which that Postgres does not support');
    const silent = failure(undefined, {}, 'timeout expired');
    expect(sentence(databaseProblem(silent, OWN))).toContain('answers (no answer)');
  });

  it('a failing migration → unchanged', () => {
    const error = failure('42P07');
    expect(databaseProblem(error, OWN)).toBe(error);
  });

  it('the embedded database → DATA_DIR for a full disk, otherwise the unchanged error', () => {
    const embedded = { dataDir: '/data', embedded: true };
    expect(sentence(databaseProblem(failure('53100'), embedded))).toMatch(/^DATA_DIR \/data has no space left/);
    const refused = failure('ECONNREFUSED');
    expect(databaseProblem(refused, embedded)).toBe(refused);
  });
});
