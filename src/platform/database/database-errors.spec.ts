import { describe, expect, it } from '@jest/globals';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isConnectionTrouble, missedPartition, violatesUnique } from './database-errors.js';

function failure(code: string, more: object = {}): Error {
  return Object.assign(new Error('from the driver'), { code, ...more });
}

describe('violates', () => {
  const duplicate = failure('23505', { constraint: 'apps_pkey' });

  it('unique violation of that constraint → true, even inside a wrapper', () => {
    expect(violatesUnique(duplicate, 'apps_pkey')).toBe(true);
    expect(violatesUnique(new QueryFailedError('insert', [], duplicate), 'apps_pkey')).toBe(true);
    expect(violatesUnique(new Error('outer', { cause: new Error('inner', { cause: duplicate }) }), 'apps_pkey')).toBe(
      true,
    );
  });

  it('another constraint, another kind of violation, no database error → false', () => {
    expect(violatesUnique(duplicate, 'apps_slug_key')).toBe(false);
    expect(violatesUnique(failure('23503', { constraint: 'apps_pkey' }), 'apps_pkey')).toBe(false);
    for (const other of [undefined, null, 'text', new Error('apps_pkey')])
      expect(violatesUnique(other, 'apps_pkey')).toBe(false);
  });

  it('an error that is its own cause → still an answer', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(violatesUnique(loop, 'apps_pkey')).toBe(false);
  });
});

describe('missed partition', () => {
  it('check without a name → true, even inside a wrapper; a named one, or anything else → false', () => {
    const missed = failure('23514', { constraint: undefined });
    expect([missed, new QueryFailedError('insert', [], missed)].map(missedPartition)).toEqual([true, true]);
    const others = [failure('23514', { constraint: 'usage_events_cost_source_check' }), failure('23505'), undefined];
    expect(others.map(missedPartition)).toEqual([false, false, false]);
  });
});

describe('connection failures', () => {
  it.each([
    ...['08000', '08006', '53100', '53300', '57P01', '57P02', '57P03', '57014', '55P03', '40P01', '40001', '25006'],
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ])('%s → a connection failure', (code) => {
    expect(isConnectionTrouble(failure(code))).toBe(true);
    expect(isConnectionTrouble(new QueryFailedError('select', [], failure(code)))).toBe(true);
  });

  it.each(['timeout exceeded when trying to connect', 'Connection terminated unexpectedly', 'timeout expired'])(
    'driver says "%s" without a code → a connection failure',
    (message) => {
      expect(isConnectionTrouble(new Error(message))).toBe(true);
    },
  );

  it('a transaction that continues after its connection broke → connection error', () => {
    expect(isConnectionTrouble(new QueryRunnerAlreadyReleasedError())).toBe(true);
    expect(isConnectionTrouble(new QueryRunnerProviderAlreadyReleasedError())).toBe(true);
  });

  it.each(['23505', '40002', '42P01', '28P01', '3D000', '57P04', '22008', 'ERR_INVALID_ARG_TYPE'])(
    '%s, which a retry does not solve → not a connection error',
    (code) => {
      expect(isConnectionTrouble(failure(code))).toBe(false);
    },
  );

  it('anything else → not a connection failure', () => {
    for (const other of [undefined, null, 'ECONNREFUSED', new Error('ECONNREFUSED')]) {
      expect(isConnectionTrouble(other)).toBe(false);
    }
  });
});
