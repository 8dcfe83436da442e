import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { isOfStranger } from './refusal.rules.js';

/** Headers that identify a repeated creation. */
export type CreationHeaders = {
  readonly 'idempotency-key': string;
  readonly 'x-idempotency-proof': string;
};

const UNSETTLED_STATUSES = new Set([408, 429]);

/**
 * Creates something once: repeating the command after a lost response returns the response of the first attempt. The
 * proof is saved before it is sent, and deleted when the outcome is known and stored.
 *
 * @param identity distinguishes this creation from others of the account.
 * @param create sends the request with these headers, and stores the response.
 */
export async function createOnce<T>(
  { journal, context }: Pick<Invocation, 'journal' | 'context'>,
  identity: object,
  create: (headers: CreationHeaders) => Promise<T>,
): Promise<T> {
  const name = nameOf(context, identity);
  const { key, proof } = journal.begin(name);
  try {
    const created = await create({ 'idempotency-key': key, 'x-idempotency-proof': proof });
    journal.end(name);
    return created;
  } catch (error) {
    if (isSettled(error)) journal.end(name);
    throw error;
  }
}

/** Whether the outcome of an earlier attempt is unknown. */
export function isUnderWay({ journal, context }: Pick<Invocation, 'journal' | 'context'>, identity: object): boolean {
  return journal.isUnderWay(nameOf(context, identity));
}

const nameOf = ({ url, accountId }: Invocation['context'], identity: object) => [url, accountId, identity];

/** Whether the outcome is final: a repeat would have the same one. */
function isSettled(error: unknown): boolean {
  if (!(error instanceof Failure) || isOfStranger(error)) return false;
  const { status = 0 } = error;
  return status >= 400 && status < 500 && !UNSETTLED_STATUSES.has(status);
}
