/**
 * Writes what the console knows of the API from `docs/openapi.json`: the types of its requests and answers, and the
 * presets of identity providers. `npm run check:api` (`--check`) fails where the files are not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT = new URL('../docs/openapi.json', import.meta.url);
const FOLDER = new URL('src/api/', import.meta.url);
const isSuccess = ([status]) => status.startsWith('2');

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const presets = document.components.schemas.AppIssuer['x-identity-presets'];
for (const operations of Object.values(document.paths)) {
  for (const operation of Object.values(operations)) simplify(operation);
}

const files = {
  'schema.d.ts': `${astToString(await openapiTS(document))}`,
  'identity-presets.json': `${JSON.stringify(presets, null, 2)}\n`,
};
const isCheck = process.argv.includes('--check');
const stale = Object.entries(files).filter(([name, text]) => contentOf(new URL(name, FOLDER)) !== text);
for (const [name, text] of stale) if (!isCheck) writeFileSync(new URL(name, FOLDER), text);
if (isCheck && stale.length > 0) {
  const names = stale.map(([name]) => `web/src/api/${name}`).join(', ');
  process.stderr.write(`Not what docs/openapi.json says: ${names}. Run npm run generate:api.\n`);
  process.exitCode = 1;
}

/** Refusals have one shape, which `api-error.ts` reads, and no caller sets headers of its own. */
function simplify(operation) {
  operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(isSuccess));
  for (const response of Object.values(operation.responses)) delete response.headers;
  operation.parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header');
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
