import type { Failure } from './failure.js';

/** The target of a command: filled in as soon as it is known, null until then. */
export interface Context {
  url: string | null;
  accountId: string | null;
}

const SCHEMA_VERSION = 1;

/** What `--json` prints for a success. */
export function successEnvelope(context: Readonly<Context>, result: object): object {
  return { schemaVersion: SCHEMA_VERSION, ok: true, context, result };
}

/** What `--json` prints for a failure. */
export function failureEnvelope(context: Readonly<Context>, { code, message, nextAction, details }: Failure): object {
  return { schemaVersion: SCHEMA_VERSION, ok: false, context, error: { code, message, nextAction, details } };
}
