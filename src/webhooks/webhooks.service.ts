import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import { Clock, instantOf } from '../common/clock.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { memberPath } from '../common/fields/config-values.js';
import { Ids } from '../common/ids.js';
import type { Secret } from '../common/log/secret.js';
import { Environment } from '../platform/config/environment.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import type { CreateWebhookRequest, UpdateWebhookRequest } from './dto/webhook.request.js';
import type { WebhookRow } from './webhook.entity.js';
import {
  MAX_WEBHOOKS,
  PREVIOUS_SECRET_MS,
  parseAppFilter,
  parseEventFilter,
  parseWebhookUrl,
} from './webhook.rules.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { type WebhookChange, WebhooksRepository } from './webhooks.repository.js';

const ID_RANDOM_LENGTH = 20;
const NEVER = instantOf(0);

/** A webhook whose secret was just made; the only result that holds its plaintext. */
export interface CreatedWebhook {
  readonly row: WebhookRow;
  readonly secret: Secret;
}

/** Manages webhooks, each call within the caller's own account. Source: docs/reference/webhooks.md. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly secrets: WebhookSecrets,
    private readonly writes: ConfigurationWrites,
    private readonly environment: Environment,
    private readonly own: OwnAddresses,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Oldest first. */
  list({ organizationId }: AdminPrincipal): Promise<WebhookRow[]> {
    return this.webhooks.list(organizationId);
  }

  /** @throws not_found unknown, or another account's. */
  async get({ organizationId }: AdminPrincipal, id: string): Promise<WebhookRow> {
    const row = await this.webhooks.find(organizationId, id);
    if (row === undefined) throw noSuchWebhook();
    return row;
  }

  /**
   * @throws invalid_request naming the member; conflict the account has 20.
   * @throws provider_unavailable the vault cannot seal the secret.
   */
  async create(admin: AdminPrincipal, body: CreateWebhookRequest): Promise<CreatedWebhook> {
    const { organizationId } = admin;
    const url = this.parseUrl(body.url);
    const filters = await this.filtersOf(organizationId, body);
    const id = `wh_${this.ids.base36(ID_RANDOM_LENGTH)}`;
    const { secret, blob } = await this.secrets.mint(organizationId, id);
    const now = this.clock.now();
    const row: WebhookRow = {
      ...{ id, organizationId, url, name: body.name ?? new URL(url).host, events: null, appIds: null, ...filters },
      ...{ enabled: body.enabled ?? true, disabledReason: null },
      ...{ secretBlob: blob, previousSecretBlob: null, previousUntil: null },
      ...{ createdBy: admin.identityId, createdAt: now, updatedAt: now, leasedUntil: NEVER },
    };
    await this.writes.run(admin, async (tx) => {
      if ((await this.webhooks.countLocked(tx, organizationId)) >= MAX_WEBHOOKS) throw tooMany();
      await this.webhooks.insert(tx, row);
      return { result: undefined, entry: { action: 'webhook.created', ...targetOf(row) } };
    });
    return { row, secret };
  }

  /** @throws invalid_request, not_found. */
  async update(admin: AdminPrincipal, id: string, body: UpdateWebhookRequest): Promise<WebhookRow> {
    const { organizationId } = admin;
    const change: WebhookChange = {
      ...(body.url !== undefined && { url: this.parseUrl(body.url) }),
      ...(body.name !== undefined && { name: body.name }),
      ...(await this.filtersOf(organizationId, body)),
      ...(body.enabled !== undefined && { enabled: body.enabled, disabledReason: null }),
      updatedAt: this.clock.now(),
    };
    return this.writes.run(admin, async (tx) => {
      const row = await this.webhooks.change(tx, { organizationId, id }, change);
      if (row === undefined) throw noSuchWebhook();
      if (body.enabled === false) await this.deliveries.end(tx, id);
      return { result: row, entry: { action: 'webhook.updated', ...targetOf(row) } };
    });
  }

  /**
   * Replaces the secret; the previous one also signs for a day.
   *
   * @throws not_found; provider_unavailable the vault cannot seal the secret.
   */
  async rotate(admin: AdminPrincipal, id: string): Promise<CreatedWebhook> {
    const { organizationId } = admin;
    const before = await this.get(admin, id);
    const { secret, blob } = await this.secrets.mint(organizationId, id);
    const now = this.clock.now();
    const change: WebhookChange = {
      ...{ secretBlob: blob, previousSecretBlob: before.secretBlob },
      ...{ previousUntil: instantOf(now.getTime() + PREVIOUS_SECRET_MS), updatedAt: now },
    };
    const row = await this.writes.run(admin, async (tx) => {
      const changed = await this.webhooks.change(tx, { organizationId, id }, change);
      if (changed === undefined) throw noSuchWebhook();
      return { result: changed, entry: { action: 'webhook.rotated', ...targetOf(changed) } };
    });
    return { row, secret };
  }

  /** @throws not_found. */
  async delete(admin: AdminPrincipal, id: string): Promise<void> {
    const row = await this.get(admin, id);
    await this.writes.run(admin, async (tx) => {
      if (!(await this.webhooks.delete(tx, admin.organizationId, id))) throw noSuchWebhook();
      return { result: undefined, entry: { action: 'webhook.deleted', ...targetOf(row) } };
    });
  }

  private parseUrl(url: string): string {
    return parseWebhookUrl(url, { trusted: this.environment.TRUSTED_PRIVATE_HOSTS, own: this.own });
  }

  private async filtersOf(
    organizationId: string,
    { events, apps }: Pick<UpdateWebhookRequest, 'events' | 'apps'>,
  ): Promise<Pick<WebhookChange, 'events' | 'appIds'>> {
    const appIds = parseAppFilter(apps);
    const unknown = appIds === null ? new Set() : await this.webhooks.unknownApps(organizationId, appIds);
    const first = appIds?.findIndex((appId) => unknown.has(appId)) ?? -1;
    if (first >= 0) throw invalidRequest(memberPath('apps', String(first)), 'must be the id of an application');
    return {
      ...(events !== undefined && { events: parseEventFilter(events) }),
      ...(apps !== undefined && { appIds }),
    };
  }
}

function targetOf({ id, name }: WebhookRow) {
  return { targetType: 'webhook', targetId: id, details: { name } } as const;
}

function noSuchWebhook(): GatewayError {
  return new GatewayError('not_found', { message: 'The account has no such webhook.' });
}

function tooMany(): GatewayError {
  return new GatewayError('conflict', {
    message: `The account has ${MAX_WEBHOOKS} webhooks, the maximum; delete one first.`,
    reason: 'too_many_webhooks',
  });
}
