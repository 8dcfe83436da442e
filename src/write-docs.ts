import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderDocuments } from './documentation/documents.js';
import { createOfflineGateway } from './offline-gateway.js';

/** The compiled file is `dist/src/write-docs.js`. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const app = await createOfflineGateway();
for (const [path, text] of renderDocuments(app)) {
  const file = join(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
await app.close();
