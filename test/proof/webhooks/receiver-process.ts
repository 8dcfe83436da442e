/**
 * A receiver of webhooks as a separate process, which is killed: `node test/proof/webhooks/receiver-process.ts
 * --port=N --file=FILE`. Writes a line of JSON for each request, `{id, path, arrivedMs, body}`, before it answers 204.
 * Prints a line once it is listening.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string' }, file: { type: 'string' } } });
const { port, file = '' } = values;

createServer(async (request, response) => {
  const arrivedMs = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  appendFileSync(
    file,
    `${JSON.stringify({ id: request.headers['webhook-id'], path: request.url, arrivedMs, body })}\n`,
  );
  response.writeHead(204).end();
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));
