import type { ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';
import type { ScannedBody } from './json-members.js';
/** PLACEHOLDER until the real rule is here: overwrite this file. */
export function judgeModelAlternatives(
  _body: ScannedBody,
  _target: {
    readonly type: ProviderType;
    readonly routeKind: 'direct' | GatewayType;
    readonly allowedModels: ReadonlySet<string>;
  },
): void {}
