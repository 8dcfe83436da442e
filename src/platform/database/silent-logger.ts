import type { Logger } from 'typeorm';

/** Discards TypeORM's logging. Callers receive failures as errors and log them. */
export class SilentLogger implements Logger {
  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
