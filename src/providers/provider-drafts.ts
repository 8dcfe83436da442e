import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { secretHintOf } from '../common/fields/secret-text.rules.js';
import { Ids } from '../common/ids.js';
import type { Secret } from '../common/log/secret.js';
import { Environment } from '../platform/config/environment.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import { Vault } from '../platform/vault/vault.js';
import { parseCustomPricing } from '../pricing/custom-pricing.rules.js';
import type { GatewayRouteOptions, GatewayType } from '../upstreams/routes/gateway-types.js';
import type { CreateProviderRequest, UpdateProviderRequest } from './dto/provider.request.js';
import type { NewProvider, ProviderRow, ProviderState, ProviderWrite, StoredPricing } from './provider.entity.js';
import { ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';
import type { RoutableRow } from './provider-routes.service.js';
import {
  type HostRules,
  type ProviderChange,
  type ProviderTarget,
  parseGatewayRoute,
  readProviderChange,
  readTarget,
  requireAllowedChange,
  requireOptionsAllowed,
  slugFor,
} from './provider-write.rules.js';
import { providerSecretContext } from './sealed-credential.rules.js';

/** A create request whose members are each valid. */
interface ReadProvider {
  readonly target: ProviderTarget;
  readonly slug: string;
  readonly name: string;
  readonly gatewayRoute: GatewayRouteOptions | null;
  readonly pricing: StoredPricing | null;
}

type SealedKey = Pick<ProviderState, 'secretBlob' | 'secretHint'>;

/** Stands for the key of a creation that is only validated. */
const ASSUMED_KEY = 'given-with-the-creation';

const NO_KEY: SealedKey = { secretBlob: null, secretHint: null };

/** Turns write requests into rows with sealed keys. It runs outside transactions, because a vault may be remote. */
@Injectable()
export class ProviderDrafts {
  readonly #hosts: HostRules;

  constructor(
    { TRUSTED_PRIVATE_HOSTS: trusted }: Environment,
    own: OwnAddresses,
    private readonly vault: Vault,
    private readonly ids: Ids,
    private readonly gateways: ProviderGatewayListing,
  ) {
    this.#hosts = { trusted, own };
  }

  /** @throws invalid_request as `readTarget`, `parseGatewayRoute`, `slugFor` and `parseCustomPricing`. */
  readNew({ type, slug, name, gatewayRoute, pricing, ...body }: CreateProviderRequest): ReadProvider {
    const target = readTarget({ type, ...body }, this.#hosts);
    if (target.providerGatewayId === null) requireOptionsAllowed(null, gatewayRoute);
    return {
      target,
      slug: slugFor(type, slug),
      name,
      gatewayRoute: gatewayRoute === undefined ? null : parseGatewayRoute(gatewayRoute),
      pricing: parseCustomPricing(pricing ?? null),
    };
  }

  /** A creation without a key, as the row it would become. @throws as `readNew`. */
  readAssumed(body: CreateProviderRequest): RoutableRow {
    const secret = body.providerGatewayId === undefined ? { secret: ASSUMED_KEY } : {};
    const { target, slug, gatewayRoute, pricing } = this.readNew({ ...body, ...secret });
    const { type, providerGatewayId } = target;
    const baseUrl = target.providerGatewayId === null ? target.baseUrl : null;
    const place = { type, providerGatewayId, baseUrl, gatewayRoute };
    return { id: `assumed:${slug}`, slug, pricing, status: 'active', ...place };
  }

  /**
   * @throws not_found, provider_not_supported_by_gateway, invalid_request (`gatewayRoute`): the gateway cannot route
   * this instance.
   * @throws provider_unavailable the vault cannot seal.
   */
  async create(admin: AdminPrincipal, { target, ...members }: ReadProvider): Promise<NewProvider> {
    const { type, providerGatewayId } = target;
    const { organizationId, identityId } = admin;
    const place = { id: this.ids.uuid(), organizationId, type, baseUrl: null };
    const draft = { ...members, ...place, providerGatewayId, status: 'active', createdBy: identityId } as const;
    if (target.providerGatewayId === null) {
      const { baseUrl } = target;
      return { ...draft, baseUrl, ...(await this.seal(target.secret, { ...place, baseUrl })) };
    }
    await this.requireRoutable(organizationId, { target, ...members });
    return { ...draft, ...NO_KEY };
  }

  /** @throws not_found, provider_not_supported_by_gateway, invalid_request (`gatewayRoute`) as `create`. */
  async requireRoutable(organizationId: string, { target, gatewayRoute }: ReadProvider): Promise<void> {
    const { type, providerGatewayId } = target;
    if (providerGatewayId === null) return;
    const gateway = await this.gateways.require(organizationId, providerGatewayId, type);
    requireOptionsAllowed(gateway.type, gatewayRoute);
  }

  /** @throws invalid_request as `readProviderChange`. */
  readChange(body: UpdateProviderRequest): ProviderChange {
    return readProviderChange(body, this.#hosts);
  }

  /**
   * The write of a change. A new key is sealed for its address. A return to the address of the type seals the stored
   * key again, because the address is part of the sealing context.
   *
   * @param kind of the gateway that the row is routed through; null when it is called directly.
   * @throws invalid_request, provider_gateway_managed as `requireAllowedChange`.
   * @throws provider_unavailable the vault cannot open or seal; never for a change that leaves key and address
   * unchanged.
   */
  async revise(row: ProviderRow, change: ProviderChange, kind: GatewayType | null): Promise<ProviderWrite> {
    requireAllowedChange(row, change, kind);
    const { secret, baseUrl, ...members } = change;
    if (secret !== undefined) return this.withNewKey(row, { ...members, baseUrl }, secret);
    // Without a new key, the only new address can be that of the type.
    if (baseUrl === undefined || baseUrl === row.baseUrl) return { members, builtOn: {} };
    const { secretBlob } = row;
    const moved = secretBlob === null ? NO_KEY : await this.seal(await this.open(row), { ...row, baseUrl });
    return { members: { ...members, baseUrl, ...moved }, builtOn: { secretBlob } };
  }

  private async withNewKey(
    row: ProviderRow,
    { baseUrl, ...members }: Partial<ProviderState>,
    secret: Secret,
  ): Promise<ProviderWrite> {
    if (baseUrl !== undefined) {
      return { members: { ...members, baseUrl, ...(await this.seal(secret, { ...row, baseUrl })) }, builtOn: {} };
    }
    return { members: { ...members, ...(await this.seal(secret, row)) }, builtOn: { baseUrl: row.baseUrl } };
  }

  private open(row: ProviderRow): Promise<Secret> {
    return this.vault.open(row.secretBlob ?? '', providerSecretContext(row));
  }

  private async seal(
    secret: Secret,
    place: Pick<NewProvider, 'organizationId' | 'id' | 'type' | 'baseUrl'>,
  ): Promise<SealedKey> {
    return {
      secretBlob: await this.vault.seal(secret, providerSecretContext(place)),
      secretHint: secretHintOf(secret),
    };
  }
}
