import { ApiError, messageOf } from '../api/api-error';
import type { Schemas } from '../api/client';

/** The result of a key test, as text and colour. */
export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly text: string;
  readonly isAccepted: boolean;
  /** Whether the provider was reached and refused the credential. */
  readonly isRefused: boolean;
}

type Outcome = Schemas['ProviderTestResponse'] | Schemas['ProviderGatewayTestResponse'];

/**
 * Only an accepted key is a success; a key that could not be tested is neither accepted nor refused.
 *
 * @param name of the provider or gateway that was called.
 * @param what was tested, for the success message.
 */
export function verdictOf(
  { validated, reason, status }: Outcome,
  name: string,
  what: 'key' | 'token' = 'key',
): Verdict {
  if (validated) return { tone: 'good', text: `${name} accepts the ${what}.`, isAccepted: true, isRefused: false };
  if (reason === 'rejected') return refused(`${name} refused this token with status ${status}.`);
  return { tone: 'warn', text: doubtOf(reason, status, name), isAccepted: false, isRefused: false };
}

/** A test that was answered with an error. @throws everything but the refusal of a key. */
export function verdictOfError(error: unknown): Verdict {
  if (error instanceof ApiError && error.code === 'provider_key_invalid') return refused(messageOf(error));
  throw error;
}

function refused(text: string): Verdict {
  return { tone: 'bad', text, isAccepted: false, isRefused: true };
}

function doubtOf(reason: Outcome['reason'], status: number | undefined, name: string): string {
  if (reason === 'unreachable') {
    return `The gateway cannot reach ${name}. Check its address, and the network of the gateway.`;
  }
  return reason === 'no_probe'
    ? `The API of ${name} has no call that tests a key: the first call will show whether it is right.`
    : `${name} answered the test of the key with status ${status}, so it is not known whether it takes the key.${status === 404 ? ' If it has a base URL, check its path: the gateway adds the version, such as /v1.' : ''}`;
}

type LastTest = NonNullable<Schemas['ProviderResource']['lastTest']>;

const RESULTS: Readonly<Record<LastTest['result'], { readonly tone: Verdict['tone']; readonly label: string }>> = {
  accepted: { tone: 'good', label: 'Key accepted' },
  refused: { tone: 'bad', label: 'Key refused' },
  unreachable: { tone: 'warn', label: 'Not reached' },
  unexpected_status: { tone: 'warn', label: 'Unclear answer' },
};

/** The mark of a provider whose key was tested. */
export function markOf({ result }: LastTest): { readonly tone: Verdict['tone']; readonly label: string } {
  return RESULTS[result];
}
