import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  findUnprivileged,
  mayPass,
  parseServerStatus,
  reportsSurvivors,
  serverSettings,
} from './embedded-postgres.rules.js';

describe('server account', () => {
  const nobody = 'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin';
  const postgres = 'postgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash';

  it('postgres before nobody, root never', () => {
    const root = 'root:x:0:0:root:/root:/bin/sh';
    expect(findUnprivileged([root, nobody, postgres].join('\n'))).toEqual({ name: 'postgres', uid: 101, gid: 104 });
    expect(findUnprivileged([root, nobody].join('\n'))).toEqual({ name: 'nobody', uid: 65534, gid: 65533 });
    expect(findUnprivileged(root)).toBeUndefined();
  });

  it('an incomplete line → not an account', () => {
    expect(findUnprivileged('postgres\nnobody:x')).toBeUndefined();
  });
});

describe('directory', () => {
  const account = { name: 'nobody', uid: 10, gid: 20 };

  it.each([
    [{ uid: 0, gid: 0, mode: 0o40711 }, true],
    [{ uid: 0, gid: 0, mode: 0o40700 }, false],
    [{ uid: 10, gid: 0, mode: 0o40700 }, true],
    [{ uid: 10, gid: 20, mode: 0o40077 }, false],
    [{ uid: 0, gid: 20, mode: 0o40710 }, true],
    [{ uid: 0, gid: 20, mode: 0o40701 }, false],
  ])('%j → may pass: %s', (directory, expected) => {
    expect(mayPass(directory, account)).toBe(expected);
  });
});

describe('postmaster.pid', () => {
  const lines = ['4711', '/data', '1795170000', '5433', '', '127.0.0.1', '  1234  5', 'ready   '];

  it('ready → its port', () => {
    expect(parseServerStatus(`${lines.join('\n')}\n`)).toEqual({ pid: 4711, readyPort: 5433 });
  });

  it.each(['starting', 'stopping', 'standby'])('%s → alive, no port yet', (state) => {
    expect(parseServerStatus(lines.with(7, state).join('\n'))).toEqual({ pid: 4711, readyPort: undefined });
  });

  it('partly written → the process, no port', () => {
    for (let written = 1; written <= 7; written++) {
      const text = lines.slice(0, written).join('\n');
      expect(parseServerStatus(text)).toEqual({ pid: 4711, readyPort: undefined });
    }
  });

  it('any other text → never a port, never a process id that means "everybody"', () => {
    expect([parseServerStatus(''), parseServerStatus('-1\n'), parseServerStatus('0\n')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    fc.assert(
      fc.property(fc.string(), (text) => {
        const status = parseServerStatus(text);
        return status === undefined || (status.pid > 0 && status.readyPort === undefined);
      }),
    );
  });
});

describe('end of the server log', () => {
  const survivors = [
    'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use',
    'HINT:  Terminate any old server processes associated with data directory "/data".',
  ];

  it('children of a killed server → survivors', () => {
    expect(reportsSurvivors(survivors.join('\n'))).toBe(true);
  });

  it('another error after them, or nothing → none', () => {
    const later = ['LOG:  could not bind', 'FATAL:  could not create any TCP/IP sockets'];
    expect([reportsSurvivors([...survivors, ...later].join('\n')), reportsSurvivors('')]).toEqual([false, false]);
  });
});

describe('server settings', () => {
  it('nothing chosen → loopback only, no socket file, UTC, durable', () => {
    const settings = serverSettings(5433, {});
    expect(settings).toEqual(
      expect.arrayContaining(['listen_addresses=127.0.0.1', 'port=5433', 'unix_socket_directories=', 'timezone=UTC']),
    );
    expect(settings).toEqual(expect.arrayContaining(['max_connections=60', 'shared_buffers=64MB']));
    expect(settings.join()).not.toMatch(/fsync|synchronous_commit|full_page_writes/);
  });

  it('disposable → durability off; sizes as chosen', () => {
    const settings = serverSettings(1, { disposable: true, maxConnections: 7, sharedBuffersMb: 8 });
    expect(settings).toEqual(
      expect.arrayContaining(['fsync=off', 'full_page_writes=off', 'max_connections=7', 'shared_buffers=8MB']),
    );
  });
});
