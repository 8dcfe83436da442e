import type { Clock } from '../clock.js';
import { LOG_LEVELS, type LogEvents, type LogLevel } from './log-events.js';

const SEVERITY: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Maximum length of untrusted text in a line. */
const MAX_FIELD_CHARACTERS = 512;
const MAX_STACK_CHARACTERS = 4_000;
/**
 * Characters that JSON does not escape but terminals and viewers interpret: control characters, line ends,
 * bidirectional controls.
 */
const ACTING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Receives one complete line, without its line end. */
export type LogSink = (line: string) => void;

/** Receives every event, including those below the configured level. */
type LogListener = (name: keyof LogEvents, fields: LogEvents[keyof LogEvents]) => void;

/**
 * Writes one JSON object per line: `{level, message, timestamp, …fields}`. Text is escaped and truncated, so a client
 * can neither forge or flood lines nor control the reader's terminal.
 */
export class Log {
  constructor(
    private readonly clock: Clock,
    private readonly least: LogLevel,
    private readonly sink: LogSink,
    private readonly listener?: LogListener,
  ) {}

  /** Writes the event unless its level is below the configured one. */
  event<N extends keyof LogEvents>(name: N, fields: LogEvents[N]): void {
    this.listener?.(name, fields);
    const level = levelOf(name, fields);
    if (SEVERITY[level] < SEVERITY[this.least]) return;
    const line: Record<string, unknown> = { level, message: name, timestamp: this.clock.now().toISOString() };
    for (const [field, value] of Object.entries(fields)) {
      if (value !== undefined) line[field] = typeof value === 'string' ? cut(field, value) : value;
    }
    this.sink(JSON.stringify(line).replace(ACTING, escaped));
  }
}

function levelOf(name: keyof LogEvents, fields: object): LogLevel {
  if (name === 'gateway_error') return 'status' in fields && Number(fields.status) >= 500 ? 'error' : 'warn';
  return LOG_LEVELS[name] ?? 'info';
}

function cut(field: string, value: string): string {
  return value.slice(0, field === 'stack' ? MAX_STACK_CHARACTERS : MAX_FIELD_CHARACTERS);
}

/** @param letter one UTF-16 code unit. */
function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
