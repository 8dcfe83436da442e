import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { parseSecretText, secretHintOf } from '../../common/fields/secret-text.rules.js';
import { Ids } from '../../common/ids.js';
import { Vault } from '../../platform/vault/vault.js';
import { gatewaySecretContext } from '../sealed-credential.rules.js';
import type { CreateGatewayRequest } from './dto/provider-gateway.request.js';
import type { NewProviderGateway, ProviderGatewayRow } from './provider-gateway.entity.js';
import { configOf } from './provider-gateway-write.rules.js';

/** A token as it is stored. */
type SealedToken = Pick<NewProviderGateway, 'secretBlob' | 'secretHint'>;

/** Turns write requests into rows with sealed tokens. It runs outside transactions, because a vault may be remote. */
@Injectable()
export class ProviderGatewayDrafts {
  constructor(
    private readonly vault: Vault,
    private readonly ids: Ids,
  ) {}

  /**
   * @throws invalid_request at `token` as `parseSecretText`.
   * @throws provider_unavailable the vault cannot seal.
   */
  async create(admin: AdminPrincipal, body: CreateGatewayRequest): Promise<NewProviderGateway> {
    const { organizationId, identityId } = admin;
    const place = { id: this.ids.uuid(), organizationId, type: body.type, config: configOf(body) };
    const sealed = await this.seal(body.token, place);
    return { ...place, ...sealed, name: body.name, createdBy: identityId };
  }

  /**
   * Seals a new token for an existing gateway.
   *
   * @throws invalid_request, provider_unavailable as `create`.
   */
  async seal(
    token: string,
    place: Pick<ProviderGatewayRow, 'id' | 'organizationId' | 'type' | 'config'>,
  ): Promise<SealedToken> {
    const secret = parseSecretText('token', token);
    return { secretBlob: await this.vault.seal(secret, gatewaySecretContext(place)), secretHint: secretHintOf(secret) };
  }
}
