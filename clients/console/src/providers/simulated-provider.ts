import type { Schemas } from '../api/client';
import type { ProviderType } from './provider-types';

export const SIMULATED = 'simulated';
export const SIMULATED_MODEL = 'simulated-1';

/** The price of its calls, so that usage is visible. USD per million tokens. */
const PRICING = { [SIMULATED_MODEL]: { input: 0.5, output: 2 } };

/** The provider that the gateway simulates. Deployments that do not offer it refuse the type, so no list names it. */
export function simulatedProvider(): Schemas['CreateProviderRequest'] {
  return {
    type: SIMULATED as ProviderType,
    name: 'Simulated provider',
    secret: 'no-key-is-needed',
    pricing: PRICING,
  };
}
