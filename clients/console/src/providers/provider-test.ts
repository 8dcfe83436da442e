import { api, read, type Schemas } from '../api/client';
import type { Provider } from '../api/queries';
import { type Verdict, verdictOf, verdictOfError } from './probe.rules';

/** Why it is unknown whether a provider accepts a key. */
export type Doubt = string;

/** Tests whether a provider accepts a key; the list of providers shows the result for a stored key. */
export function testedBy(tested: Schemas['TestProviderRequest'] | Provider, name: string): Promise<Verdict> {
  return outcomeOf(tested).then((outcome) => verdictOf(outcome, name), verdictOfError);
}

/**
 * As {@link testedBy}.
 *
 * @returns why it is unknown; undefined if the key is accepted. @throws ApiError provider_key_invalid if it is refused.
 */
export async function doubtAbout(
  tested: Schemas['TestProviderRequest'] | Provider,
  name: string,
): Promise<Doubt | undefined> {
  const verdict = verdictOf(await outcomeOf(tested), name);
  return verdict.isAccepted ? undefined : verdict.text;
}

/** Tests a key that was stored, so that its row is marked. The change is kept regardless of the test result. */
export async function markTested(provider: Provider): Promise<void> {
  await testedBy(provider, provider.name).catch(() => undefined);
}

function outcomeOf(tested: Schemas['TestProviderRequest'] | Provider): Promise<Schemas['ProviderTestResponse']> {
  return read(
    'id' in tested
      ? api.POST('/v1/admin/providers/{id}/test', { params: { path: { id: tested.id } } })
      : api.POST('/v1/admin/providers/test', { body: tested }),
  );
}
