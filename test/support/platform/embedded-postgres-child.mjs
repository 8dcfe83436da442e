import { startEmbeddedPostgres } from '../../../dist/src/platform/embedded-postgres/embedded-postgres.js';

// A process with an embedded Postgres, for tests that kill it: says where the server is, stops it on any input.
const server = await startEmbeddedPostgres(process.argv[2], { disposable: process.argv[3] === 'disposable' });
process.stdout.write(
  `${JSON.stringify({ url: server.url.reveal(), directory: server.directory, adopted: server.adopted })}\n`,
);
process.stdin.once('data', () => void server.stop().then(() => process.exit()));
