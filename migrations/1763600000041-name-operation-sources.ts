import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which kind of client sent an operation: a terminal, or an AI client whose keys a person reveals in the console. */
export class NameOperationSources1763600000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE cli_operations
        ADD COLUMN action_source text NOT NULL DEFAULT 'cli'
          CONSTRAINT cli_operations_source_check CHECK (action_source IN ('cli', 'mcp'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM cli_operations WHERE action_source = 'mcp'");
    await runner.query('ALTER TABLE cli_operations DROP COLUMN action_source');
  }
}
