import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import type { Secret } from '../../common/log/secret.js';
import type { AdminPrincipal } from '../../identity/admin-principal.js';
import { Environment } from '../../platform/config/environment.js';
import { Vault } from '../../platform/vault/vault.js';
import { parseCustomPricing } from '../../pricing/custom-pricing.rules.js';
import type { CreateProviderRequest } from '../dto/create-provider.request.js';
import type { UpdateProviderRequest } from '../dto/update-provider.request.js';
import type { NewProvider, ProviderRow, ProviderState } from '../provider-row.js';
import { secretContext, secretHintOf } from './provider-secret.rules.js';
import {
  type ProviderChange,
  readDirectTarget,
  readProviderChange,
  refuseGatewayRoute,
  slugFor,
} from './provider-write.rules.js';

/** Turns write requests into states to be stored, keys sealed. Works before any transaction: a vault may be remote. */
@Injectable()
export class ProviderDrafts {
  constructor(
    private readonly environment: Environment,
    private readonly vault: Vault,
    private readonly ids: Ids,
  ) {}

  /**
   * @throws invalid_request, not_found as `readDirectTarget`, `slugFor` and `parseCustomPricing` say.
   * @throws provider_unavailable the vault cannot seal.
   */
  async create(admin: AdminPrincipal, body: CreateProviderRequest): Promise<NewProvider> {
    const target = readDirectTarget(body, this.environment.TRUSTED_PRIVATE_HOSTS);
    refuseGatewayRoute(body.gatewayRoute);
    const slug = slugFor(body.type, body.slug);
    const pricing = parseCustomPricing(body.pricing ?? null);
    const place = {
      id: this.ids.uuid(),
      organizationId: admin.organizationId,
      type: target.type,
      baseUrl: target.baseUrl,
    };
    const sealed = await this.seal(target.secret, place);
    return {
      ...place,
      ...sealed,
      providerGatewayId: null,
      gatewayRoute: null,
      slug,
      pricing,
      name: body.name,
      status: 'active',
      createdBy: admin.identityId,
    };
  }

  /** @throws invalid_request as `readProviderChange` says. */
  readChange(body: UpdateProviderRequest): ProviderChange {
    return readProviderChange(body, this.environment.TRUSTED_PRIVATE_HOSTS);
  }

  /**
   * The state after a change. A new key is sealed for the new address; going back to the address of the type seals the
   * stored key again, because the address is part of what it is tied to.
   *
   * @throws provider_unavailable the vault cannot open or seal; never for a change that leaves key and address alone.
   */
  async revise(row: ProviderRow, { secret: newSecret, ...change }: ProviderChange): Promise<ProviderState> {
    const next: ProviderRow = { ...row, ...change };
    const isMoved = next.baseUrl !== row.baseUrl && row.secretBlob !== null;
    const secret = newSecret ?? (isMoved ? await this.open(row) : undefined);
    return secret === undefined ? next : { ...next, ...(await this.seal(secret, next)) };
  }

  private open(row: ProviderRow): Promise<Secret> {
    return this.vault.open(row.secretBlob ?? '', secretContext(row));
  }

  private async seal(
    secret: Secret,
    place: Pick<NewProvider, 'organizationId' | 'id' | 'type' | 'baseUrl'>,
  ): Promise<Pick<ProviderState, 'secretBlob' | 'secretHint'>> {
    return { secretBlob: await this.vault.seal(secret, secretContext(place)), secretHint: secretHintOf(secret) };
  }
}
