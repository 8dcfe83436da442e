import pg from 'pg';
import type { Secret } from '../../common/log/secret.js';
import { EnvironmentError } from '../config/environment.js';
import { connectionConfig } from './connection.js';
import { haveSessions } from './pooler-detection.rules.js';

/** A busy pooler changes backends often, an idle one gives both connections the same: a few statements reveal it. */
const ROUNDS = 8;
const STATEMENT_TIMEOUT_MS = 5_000;
/** The message of PgBouncer for settings that it cannot pass on. */
const REFUSED_PARAMETER = /unsupported startup parameter/i;

const FIX = 'use the address of Postgres itself, or switch the pooler to session mode';

/**
 * Refuses a database behind a pooler in transaction or statement mode: notifications, locks of a migration and prepared
 * statements need a session.
 *
 * @throws EnvironmentError; an error of Postgres or the system when it is not reachable.
 * Source: docs/operations.md#database.
 */
export async function requireSessions(url: Secret): Promise<void> {
  const clients = [newClient(url), newClient(url)] as const;
  const [one, other] = clients;
  const backends: [number[], number[]] = [[], []];
  try {
    await Promise.all(clients.map((client) => client.connect()));
    for (let round = 0; round < ROUNDS; round++) {
      backends[0].push(await backendOf(one));
      backends[1].push(await backendOf(other));
    }
  } catch (error) {
    if (!(error instanceof Error) || !REFUSED_PARAMETER.test(error.message)) throw error;
    throw new EnvironmentError(`DATABASE_URL points to a pooler that refuses settings of a connection: ${FIX}.`, {
      cause: error,
    });
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
  if (!haveSessions(...backends)) {
    throw new EnvironmentError(`DATABASE_URL points to a pooler in transaction mode: ${FIX}.`);
  }
}

function newClient(url: Secret): pg.Client {
  const options = { url, applicationName: 'gateway-sessions', statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const client = new pg.Client(connectionConfig(options));
  // A connection that dies between statements emits only this event; the next statement then fails.
  client.on('error', () => undefined);
  return client;
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
