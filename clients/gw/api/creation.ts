import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { isOfStranger } from './refusal.rules.js';

/** Headers by which a repeat of a creation is known as one. */
export type CreationHeaders = {
  readonly 'idempotency-key': string;
  readonly 'x-idempotency-proof': string;
};

const UNSETTLED_STATUSES = new Set([408, 429]);

/**
 * Creates something once: a repeat of the command after a lost answer gets the answer of the first attempt. The proof is
 * saved before it is sent, and forgotten when the outcome is known and kept.
 *
 * @param identity what tells this creation apart from others of the account.
 * @param create sends the request with these headers, and keeps what it answers.
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

/** Whether an earlier attempt of a creation has not learned its outcome. */
export function isUnderWay({ journal, context }: Pick<Invocation, 'journal' | 'context'>, identity: object): boolean {
  return journal.isUnderWay(nameOf(context, identity));
}

const nameOf = ({ url, accountId }: Invocation['context'], identity: object) => [url, accountId, identity];

/** Whether the service has decided: a repeat would be decided in the same way. */
function isSettled(error: unknown): boolean {
  if (!(error instanceof Failure) || isOfStranger(error)) return false;
  const { status = 0 } = error;
  return status >= 400 && status < 500 && !UNSETTLED_STATUSES.has(status);
}
