/**
 * Writes the published documents of the program: `docs/cli.md` and the schemas of its results. `--check` fails if the
 * files differ. Run by `npm run docs` and a contract test.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commands } from '../program/commands.js';
import { cliDocument } from './cli-document.js';
import { resultSchemas } from './result-schemas.js';

/** The bundle is `dist/gw/reference.js`. */
const ROOT = join(import.meta.dirname, '../..');

const openapi = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'));
const files = {
  'docs/cli.md': cliDocument(commands),
  'docs/schemas/gw.schema.json': `${JSON.stringify(resultSchemas(commands, openapi), null, 2)}\n`,
};
const isCheck = process.argv.includes('--check');
const stale = Object.entries(files).filter(([name, text]) => contentOf(name) !== text);
for (const [name, text] of isCheck ? [] : stale) {
  mkdirSync(dirname(join(ROOT, name)), { recursive: true });
  writeFileSync(join(ROOT, name), text);
}
if (isCheck && stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.map(([name]) => name).join(', ')}. Run npm run docs.\n`);
  process.exitCode = 1;
}

function contentOf(name: string): string | undefined {
  try {
    return readFileSync(join(ROOT, name), 'utf8');
  } catch {
    return undefined;
  }
}
