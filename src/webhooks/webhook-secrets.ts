import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Ids } from '../common/ids.js';
import { Secret } from '../common/log/secret.js';
import { Vault } from '../platform/vault/vault.js';
import type { WebhookRow } from './webhook.entity.js';
import { SECRET_BYTES, SECRET_PREFIX, webhookSecretContext } from './webhook.rules.js';

/** The secrets that sign deliveries, sealed by the vault. */
@Injectable()
export class WebhookSecrets {
  constructor(
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** A new secret and its sealed form. @throws provider_unavailable the vault cannot seal it. */
  async mint(organizationId: string, id: string): Promise<{ readonly secret: Secret; readonly blob: string }> {
    const secret = new Secret(`${SECRET_PREFIX}${this.ids.bytes(SECRET_BYTES).toString('base64')}`);
    return { secret, blob: await this.vault.seal(secret, webhookSecretContext(organizationId, id)) };
  }

  /** The secrets that sign now, the current one first. @throws provider_unavailable the vault cannot open one. */
  open({ id, organizationId, secretBlob, previousSecretBlob, previousUntil }: WebhookRow): Promise<Secret[]> {
    const blobs = [secretBlob];
    const isPreviousValid = previousUntil !== null && previousUntil.getTime() > this.clock.nowMs();
    if (previousSecretBlob !== null && isPreviousValid) blobs.push(previousSecretBlob);
    const context = webhookSecretContext(organizationId, id);
    return Promise.all(blobs.map((blob) => this.vault.open(blob, context)));
  }
}
