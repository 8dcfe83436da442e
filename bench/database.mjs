/** The embedded database of a running gateway. */
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/src/platform/embedded-postgres/embedded-postgres.js';

/**
 * Uses it beside the gateway; the database ends with the last of its users.
 *
 * @returns `{ url, query, close }`: `query(text, values)` answers with rows
 */
export async function useDatabase(dataDir) {
  const server = await startEmbeddedPostgres(dataDir);
  const url = server.url.reveal();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    query: async (text, values) => (await client.query(text, values)).rows,
    close: async () => {
      await client.end();
      await server.stop();
    },
  };
}
