import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Clock } from '../clock.js';
import { Log } from './log.js';
import { LOG_LEVELS, type LogEvents, type LogLevel } from './log-events.js';

class FixedClock extends Clock {
  nowMs(): number {
    return Date.UTC(2026, 1, 3, 4, 5, 6, 789);
  }

  monotonicMs(): number {
    return 0;
  }
}

function written(write: (log: Log) => void, least: LogLevel = 'debug'): string[] {
  const lines: string[] = [];
  write(new Log(new FixedClock(), least, (line) => lines.push(line)));
  return lines;
}

function errorLine(fields: Partial<LogEvents['gateway_error']>): string {
  const base = { code: 'x', status: 400, path: '/', method: 'GET' };
  return written((log) => log.event('gateway_error', { ...base, ...fields })).join('\n');
}

describe('log lines', () => {
  it('an event → one JSON object: level, message, timestamp, then its fields', () => {
    const lines = written((log) => log.event('usage_events_write_failed', { pending: 3, error: 'away' }));
    expect(lines).toEqual([
      '{"level":"error","message":"usage_events_write_failed","timestamp":"2026-02-03T04:05:06.789Z","pending":3,"error":"away"}',
    ]);
  });

  it('absent fields → left out; null, false and 0 → kept', () => {
    const [line = ''] = written((log) => {
      log.event('database_embedded_started', { adopted: false, directory: '' });
    });
    expect(JSON.parse(line)).toMatchObject({ adopted: false, directory: '' });
    expect(JSON.parse(errorLine({ reason: undefined, status: 0 }))).not.toHaveProperty('reason');
    expect(errorLine({ status: 0 })).toContain('"status":0');
  });

  it.each([
    [400, 'warn'],
    [429, 'warn'],
    [499, 'warn'],
    [500, 'error'],
    [504, 'error'],
  ])('refusal with %i → %s', (status, level) => {
    expect(JSON.parse(errorLine({ status })).level).toBe(level);
  });

  it('a listener → receives every event, even one that is not written', () => {
    const told: unknown[] = [];
    const lines: string[] = [];
    const log = new Log(
      new FixedClock(),
      'error',
      (line) => lines.push(line),
      (...event) => told.push(event),
    );
    log.event('redis_back', { lostMs: 5 });
    expect([told, lines]).toEqual([[['redis_back', { lostMs: 5 }]], []]);
  });

  it('an event without its own level → info', () => {
    const lines = written((log) => log.event('gateway_stopped', { instanceId: 'i' }));
    expect(JSON.parse(lines.join()).level).toBe('info');
    expect(LOG_LEVELS.usage_unresolved_cost).toBe('error');
    expect(LOG_LEVELS.secret_vault_misconfigured).toBe('error');
  });

  it.each<[LogLevel, string[]]>([
    ['debug', ['info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ])('minimum level %s → %j', (least, levels) => {
    const lines = written((log) => {
      log.event('gateway_stopped', { instanceId: 'i' });
      log.event('database_waiting', { error: 'away' });
      log.event('usage_journal_failed', { error: 'full' });
    }, least);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(levels);
  });
});

describe('untrusted text in lines', () => {
  it('any text → one line that decodes to the text, truncated at 512', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (path) => {
        const line = errorLine({ path });
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line).path).toBe(path.slice(0, 512));
      }),
    );
  });

  it('terminal control and bidirectional characters → all escaped', () => {
    const controls = Array.from({ length: 0x2070 }, (_, code) => String.fromCharCode(code)).filter((letter) =>
      /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(letter),
    );
    for (const letter of [...controls, '\u009b31m', 'a\u202egpj.exe']) {
      const line = errorLine({ appVersion: letter });
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      expect(JSON.parse(line).appVersion).toBe(letter);
    }
    expect(controls.length).toBeGreaterThan(70);
  });

  it('a forged log line → stays within its field', () => {
    const forged = '/x"}\n{"level":"info","message":"gateway_started"}';
    const line = errorLine({ path: forged });
    expect(line.split('\n')).toHaveLength(1);
    expect(JSON.parse(line)).toMatchObject({ message: 'gateway_error', path: forged });
  });

  it('long text → 512 characters; a stack → 4,000', () => {
    const [line = ''] = written((log) =>
      log.event('unhandled_error', { error: 'e'.repeat(10_000), stack: 's'.repeat(10_000) }),
    );
    const { error, stack } = JSON.parse(line);
    expect([error.length, stack.length]).toEqual([512, 4_000]);
  });
});
