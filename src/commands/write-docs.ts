import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOfflineGateway } from '../bootstrap/offline-gateway.js';
import { errorText } from '../common/errors/error-text.js';
import { loadEnvironment, processEnvironment } from '../platform/config/environment.js';
import { renderDocuments } from './documentation/documents.js';
import { readSchema } from './documentation/schema.repository.js';
import { renderSchema } from './documentation/schema.rules.js';
import { withMigratedDatabase } from './documentation/schema-database.js';
import { TABLE_AREAS } from './documentation/tables.js';

/** The compiled file is `dist/src/commands/write-docs.js`. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCHEMA = 'docs/schema.md';

function write(path: string, text: string): void {
  const file = join(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const app = await createOfflineGateway();
for (const [path, text] of renderDocuments(app)) write(path, text);
await app.close();

try {
  const tables = await withMigratedDatabase(loadEnvironment(processEnvironment()), readSchema);
  write(SCHEMA, renderSchema(tables, TABLE_AREAS));
} catch (error) {
  const reason = errorText(error);
  process.stderr.write(
    `${SCHEMA} was not written; the other documents were. It needs a Postgres where a database can be created: DATABASE_URL, or the embedded one. ${reason}\n`,
  );
  process.exitCode = 1;
}
