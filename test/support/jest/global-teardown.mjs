import { once } from 'node:events';

/** Ends the Postgres of the run, with every database made in it. */
export default async function tearDown() {
  const server = globalThis.testDatabaseServer;
  const ended = once(server, 'exit');
  server.stdin.end();
  await ended;
}
