import { api, read, type Schemas } from '../api/client';
import type { Provider } from '../api/queries';

/** Why it is not known whether a provider takes a key. */
export type Doubt = string;

/**
 * Asks a provider whether it takes a key.
 *
 * @returns why that is not known; undefined where it does.
 * @throws ApiError provider_key_invalid it refuses the key.
 */
export async function doubtAbout(
  tested: Schemas['TestProviderRequest'] | Provider,
  name: string,
): Promise<Doubt | undefined> {
  const answer = await read(
    'id' in tested
      ? api.POST('/v1/admin/providers/{id}/test', { params: { path: { id: tested.id } } })
      : api.POST('/v1/admin/providers/test', { body: tested }),
  );
  if (answer.validated) return undefined;
  if (answer.reason === 'unreachable') {
    return `The gateway cannot reach ${name}. Check its address, and the network of the gateway.`;
  }
  return answer.reason === 'no_probe'
    ? `The API of ${name} has no call that tests a key: the first call will show whether it is right.`
    : `${name} answered the test of the key with status ${answer.status}, so it is not known whether it takes the key.`;
}
