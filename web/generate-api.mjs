/**
 * Writes what the clients know of the API from `docs/openapi.json`: for the console the types of its requests and answers
 * and the presets of identity providers, for `gw` the schemas of successful answers. `npm run check:api` (`--check`)
 * fails where the files are not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT = new URL('../docs/openapi.json', import.meta.url);
const ROOT = new URL('../', import.meta.url);
/** What schemas say to people. */
const WORDS = new Set(['description', 'example', 'examples', 'x-identity-presets']);
const isSuccess = ([status]) => status.startsWith('2');

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const presets = document.components.schemas.AppIssuer['x-identity-presets'];
const answers = answerSchemas();
for (const operations of Object.values(document.paths)) {
  for (const operation of Object.values(operations)) simplify(operation);
}

const files = {
  'web/src/api/schema.d.ts': `${astToString(await openapiTS(document))}`,
  'src/gw/api/answers.json': `${JSON.stringify(answers)}\n`,
  'web/src/api/identity-presets.json': `${JSON.stringify(presets, null, 2)}\n`,
};
const isCheck = process.argv.includes('--check');
const stale = Object.entries(files).filter(([name, text]) => contentOf(new URL(name, ROOT)) !== text);
for (const [name, text] of stale) if (!isCheck) writeFileSync(new URL(name, ROOT), text);
if (isCheck && stale.length > 0) {
  const names = stale.map(([name]) => name).join(', ');
  process.stderr.write(`Not what docs/openapi.json says: ${names}. Run npm run generate:api.\n`);
  process.exitCode = 1;
}

/** Refusals have one shape, which `api-error.ts` reads, and no caller sets headers of its own. */
function simplify(operation) {
  operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(isSuccess));
  for (const response of Object.values(operation.responses)) delete response.headers;
  operation.parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header');
}

/** Schemas of successful JSON answers by method and path. Members that a newer server adds are valid. */
function answerSchemas() {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const [, response] = Object.entries(responses).find(isSuccess) ?? [];
      const schema = response?.content?.['application/json']?.schema;
      return schema === undefined ? [] : [[`${method.toUpperCase()} ${path}`, open(schema)]];
    }),
  );
  return { operations: Object.fromEntries(operations), components: { schemas: open(document.components.schemas) } };
}

function open(schema) {
  if (Array.isArray(schema)) return schema.map(open);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name, value]) => {
    const isWords = WORDS.has(name) && (typeof value === 'string' || name !== 'description');
    return !isWords && name !== 'discriminator' && !(name === 'additionalProperties' && value === false);
  });
  return Object.fromEntries(kept.map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, open(value)]));
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
