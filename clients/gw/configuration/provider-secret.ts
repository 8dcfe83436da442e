import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { type Environment, providerSecretVariable } from '../program/environment.js';
import { Failure } from '../program/failure.js';
import type { DesiredProvider } from './configuration-files.js';

/** Longer than any key. */
const MAX_BYTES = 65_536;

/** The key of a provider, read only when it is sent. */
export interface ProviderSecret {
  /** Where it is, as `the variable OPENAI_KEY`. */
  readonly place: string;
  /** How to provide it. */
  readonly advice: string;
  readonly isThere: boolean;
  /** @throws Failure it cannot be read. */
  read(): string;
}

/** The key that a file names, else the one in `GW_PROVIDER_SECRET_<SLUG>`. */
export function providerSecretOf(
  environment: Pick<Environment, 'variable'>,
  { slug, secret }: Pick<DesiredProvider, 'slug' | 'secret'>,
): ProviderSecret {
  const path = secret?.file;
  if (typeof path === 'string') {
    const advice = `Put the key into ${path}`;
    return { place: `the file ${path}`, advice, isThere: existsSync(path), read: () => contentOf(path, slug) };
  }
  const name = secret?.env ?? providerSecretVariable(slug);
  const read = () => {
    const value = environment.variable(name);
    if (value === undefined) throw unreadable(slug, `${name} is not set`);
    return value;
  };
  return {
    place: `the variable ${name}`,
    advice: `Set ${name}`,
    isThere: environment.variable(name) !== undefined,
    read,
  };
}

function contentOf(path: string, slug: string): string {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  try {
    const descriptor = openSync(path, 'r');
    try {
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw unreadable(slug, error instanceof Error ? error.message : String(error));
  }
  const text = buffer.toString('utf8', 0, length).trim();
  if (text === '' || length > MAX_BYTES) throw unreadable(slug, `${path} holds no key`);
  return text;
}

function unreadable(slug: string, problem: string): Failure {
  return Failure.input('secret_unreadable', `The key of ${slug} cannot be read: ${problem}.`, {
    nextAction: 'Put it there, then run the command again.',
  });
}
