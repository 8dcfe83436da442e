import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { documentedVariables } from '../../src/commands/documentation/documents.js';

interface GatewayService {
  readonly env_file: unknown;
  readonly environment: Readonly<Record<string, string>>;
}

/** The settings that the container sets: its ports, its volume and its Postgres. */
const OWN = ['HOST', 'PORT', 'DATA_DIR', 'DATABASE_URL'];

const FILE = new URL('../../compose.yaml', import.meta.url);
const { gateway, 'second-gateway': second }: Record<string, GatewayService> = parse(readFileSync(FILE, 'utf8'), {
  merge: true,
}).services;

describe.each([
  ['gateway', gateway],
  ['second-gateway', second],
])('compose.yaml, %s', (_name, service) => {
  const { env_file: file, environment } = service ?? { env_file: undefined, environment: {} };
  const settings = documentedVariables().map(({ name }) => name);

  it('a file .env → read, and optional', () => {
    expect(file).toEqual([{ path: '.env', required: false }]);
  });

  it('each documented setting → taken from .env, unless the container sets it', () => {
    const replaced = settings.filter((name) => name in environment && !environment[name]?.startsWith(`\${${name}`));
    expect(replaced).toEqual(OWN);
  });

  it('every passed variable → a setting', () => {
    expect(Object.keys(environment).filter((name) => !settings.includes(name))).toEqual([]);
  });
});
