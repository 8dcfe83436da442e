import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { type RetentionSession, RetentionSessions } from '../../../src/retention/retention-session.repository.js';

/** Where a run ends before its time: at which of its statements, and how. */
export interface Break {
  readonly at: number;
  /** `before` and `after` it: an error in this process; `cut`: Postgres ends the connection once it is done. */
  readonly how: 'before' | 'after' | 'cut';
}

/** Sessions whose connection breaks at a statement of the work, also within a transaction. */
export class BreakingSessions extends RetentionSessions {
  /** @param killer another connection, which nobody breaks. */
  constructor(
    private readonly db: DataSource,
    private readonly killer: DataSource,
    private readonly breaks: Break,
  ) {
    super(db);
  }

  override alone<T>(work: (session: RetentionSession) => Promise<T>): Promise<T | undefined> {
    return super.alone(async (session) => {
      const [{ pid }]: [{ pid: number }] = await session.connection.query('SELECT pg_backend_pid() AS pid');
      return work({ ...session, connection: this.breaking(session.connection, pid) });
    });
  }

  private breaking(connection: EntityManager, pid: number): EntityManager {
    let statements = 0;
    const { at, how } = this.breaks;
    const query = async (runner: QueryRunner, args: Parameters<QueryRunner['query']>) => {
      const isLast = statements++ === at;
      if (isLast && how === 'before') throw new Error('killed before');
      const result = await runner.query(...args);
      if (isLast && how === 'after') throw new Error('killed after');
      if (isLast) await this.killer.query('SELECT pg_terminate_backend($1)', [pid]);
      return result;
    };
    const runner: QueryRunner = new Proxy(connection.queryRunner ?? this.db.createQueryRunner(), {
      get(real, name) {
        if (name === 'manager') return manager;
        if (name === 'query') return (...args: Parameters<QueryRunner['query']>) => query(real, args);
        return Reflect.get(real, name);
      },
    });
    const manager = this.db.createEntityManager(runner);
    return manager;
  }
}
