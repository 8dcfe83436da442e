import { api, read, type Schemas } from '../api/client';
import type { Provider } from '../api/queries';
import { type Verdict, verdictOf, verdictOfError } from './probe.rules';

/** Why it is not known whether a provider takes a key. */
export type Doubt = string;

/** Asks a provider whether it takes a key; the list of providers shows what was found of a stored one. */
export function testedBy(tested: Schemas['TestProviderRequest'] | Provider, name: string): Promise<Verdict> {
  return outcomeOf(tested).then((outcome) => verdictOf(outcome, name), verdictOfError);
}

/**
 * As {@link testedBy}.
 *
 * @returns why it is not known; undefined where it takes the key.
 * @throws ApiError provider_key_invalid it refuses the key.
 */
export async function doubtAbout(
  tested: Schemas['TestProviderRequest'] | Provider,
  name: string,
): Promise<Doubt | undefined> {
  const verdict = verdictOf(await outcomeOf(tested), name);
  return verdict.isAccepted ? undefined : verdict.text;
}

/** Tests a key that was stored, so that its row is marked. The write stands whatever comes of the test. */
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
