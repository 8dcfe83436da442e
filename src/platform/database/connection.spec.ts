import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';

const options = { url: new Secret('postgres://h/d'), applicationName: 'test', statementTimeoutMs: 10_000 };

describe('connection', () => {
  it('every wait → bounded: connecting by 5 s, statements as configured; sessions in UTC', () => {
    expect(connectionConfig(options)).toEqual({
      connectionString: 'postgres://h/d',
      application_name: 'test',
      connectionTimeoutMillis: 5_000,
      statement_timeout: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      options: '-c TimeZone=UTC',
    });
  });

  it('silent beyond its limit → closed, with the code of a timeout', async () => {
    const socket = connectionConfig({ ...options, silenceMs: 20 }).stream?.();
    if (socket === undefined) throw new Error('a socket was expected');
    const [error]: unknown[] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'Postgres was silent for 20 ms' });
    expect(socket.destroyed).toBe(true);
  });
});
