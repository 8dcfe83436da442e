/** Ends the Postgres of the run, with every database made in it. It does that by itself, so nobody waits for it. */
export default function tearDown() {
  const server = globalThis.testDatabaseServer;
  server.stdin.end();
  server.stdout.destroy();
  server.unref();
}
