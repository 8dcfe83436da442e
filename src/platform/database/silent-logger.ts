import type { Logger } from 'typeorm';

/** Says nothing. TypeORM would otherwise print failures itself, which callers get as errors and log in their own words. */
export class SilentLogger implements Logger {
  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
