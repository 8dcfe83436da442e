import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, instantOf } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { Ids } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import type { Secret } from '../common/log/secret.js';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { GuardedRequest, OutboundError } from '../platform/outbound/guarded-request.js';
import type { WebhookRow } from './webhook.entity.js';
import { type DeliveryAttempt, outcomeOf, signedHeaders } from './webhook.rules.js';
import { type DueDelivery, WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** Name of the interval in the scheduler. */
const WEBHOOK_DELIVERIES = 'webhook-deliveries';
const LOOK_EVERY_MS = 500;
/** How long an endpoint may take. Source: https://www.standardwebhooks.com. */
const TIMEOUT_MS = 15_000;
/** How long an instance leases a webhook; the events of a killed instance wait this long. */
const LEASE_MS = 20_000;
/** No attempt starts later in a lease, so that it ends within the lease. */
const BATCH_MS = LEASE_MS - TIMEOUT_MS - 1_000;
const WEBHOOKS_AT_ONCE = 16;
const DELIVERIES_PER_BATCH = 200;
/** Subjects of one webhook that are served at the same time. */
const SUBJECTS_AT_ONCE = 8;
const RANDOM_RANGE = 2 ** 32;

/** A leased webhook and what its deliveries need. */
interface Lease {
  readonly webhook: WebhookRow;
  readonly secrets: readonly Secret[];
  readonly endsAtMs: number;
  isGone: boolean;
}

/**
 * Delivers events to webhooks, on every instance. A webhook is leased by one instance at a time, which sends the events
 * of one subject one after the other, so first attempts keep their order. Delivered at least once: a process that is
 * killed after an attempt repeats it.
 *
 * Source: docs/reference/webhooks.md#deliveries.
 */
@Injectable()
export class WebhookSender implements BeforeApplicationShutdown {
  readonly #active = new Set<Promise<boolean>>();
  #isStopping = false;

  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly background: BackgroundDataSource,
    private readonly outbound: GuardedRequest,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /** Starts to deliver due events. Resolves when no delivery is in progress. */
  @Interval(WEBHOOK_DELIVERIES, LOOK_EVERY_MS)
  async look(): Promise<void> {
    for (const webhook of await this.lease()) {
      const delivering = this.deliver(webhook).catch((error) => this.fail(error));
      this.#active.add(delivering);
      void delivering.then((isDue) => {
        this.#active.delete(delivering);
        if (isDue) void this.look();
      });
    }
    await Promise.all(this.#active);
  }

  /** Lets attempts in progress end; other instances, or the next start, do the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#active);
  }

  /**
   * One attempt, without a record of it.
   *
   * @throws provider_unavailable the vault cannot open the secret.
   */
  async attempt(webhook: WebhookRow, event: Pick<DueDelivery, 'event_id' | 'body'>): Promise<DeliveryAttempt> {
    return this.send(webhook.url, event, await this.secrets.open(webhook));
  }

  private async lease(): Promise<WebhookRow[]> {
    const limit = WEBHOOKS_AT_ONCE - this.#active.size;
    if (this.#isStopping || limit <= 0) return [];
    try {
      const now = this.clock.now();
      return await this.webhooks.lease(this.background, now, instantOf(now.getTime() + LEASE_MS), limit);
    } catch (error) {
      this.fail(error);
      return [];
    }
  }

  private fail(error: unknown): false {
    this.log.event('webhook_deliveries_failed', { error: errorText(error) });
    return false;
  }

  /**
   * On an error, such as a vault that cannot open the secret, deliveries stay due until the lease has ended.
   *
   * @returns whether the lease was over before everything was sent; other webhooks come first.
   */
  private async deliver(webhook: WebhookRow): Promise<boolean> {
    const endsAtMs = this.clock.monotonicMs() + BATCH_MS;
    const lease: Lease = { webhook, secrets: await this.secrets.open(webhook), endsAtMs, isGone: false };
    let isDue = await this.deliverBatch(lease);
    while (isDue && !this.isOver(lease)) isDue = await this.deliverBatch(lease);
    await this.webhooks.release(this.background, webhook.id, webhook.leasedUntil, this.clock.now());
    return isDue;
  }

  /** @returns whether there was something to deliver. */
  private async deliverBatch(lease: Lease): Promise<boolean> {
    const now = this.clock.now();
    const due = await this.deliveries.due(this.background, lease.webhook.id, now, DELIVERIES_PER_BATCH);
    const queues = [...Map.groupBy(due, ({ subject }) => subject).values()];
    const serve = async (): Promise<void> => {
      for (let queue = queues.shift(); queue; queue = queues.shift()) await this.deliverInOrder(lease, queue);
    };
    await Promise.all(Array.from({ length: SUBJECTS_AT_ONCE }, serve));
    return due.length > 0;
  }

  private isOver(lease: Lease): boolean {
    return this.#isStopping || lease.isGone || this.clock.monotonicMs() >= lease.endsAtMs;
  }

  private async deliverInOrder(lease: Lease, queue: readonly DueDelivery[]): Promise<void> {
    for (const delivery of queue) {
      if (this.isOver(lease)) return;
      const attempt = await this.send(lease.webhook.url, delivery, lease.secrets);
      const outcome = outcomeOf(attempt, delivery.attempts, this.ids.bytes(4).readUInt32BE() / RANDOM_RANGE);
      await this.deliveries.record(this.background, delivery.id, attempt, outcome, this.clock.now());
      if (outcome.status === 'disabled') await this.disable(lease);
    }
  }

  private async disable(lease: Lease): Promise<void> {
    lease.isGone = true;
    const { id, organizationId } = lease.webhook;
    const change = { enabled: false, disabledReason: 'gone', updatedAt: this.clock.now() } as const;
    await this.background.transaction(async (tx) => {
      await this.webhooks.change(tx, { id, organizationId }, change);
      await this.deliveries.end(tx, id);
    });
    this.log.event('webhook_disabled', { webhook: id });
  }

  private async send(
    url: string,
    { event_id: id, body }: Pick<DueDelivery, 'event_id' | 'body'>,
    secrets: readonly Secret[],
  ): Promise<DeliveryAttempt> {
    const startedMs = this.clock.monotonicMs();
    const headers = signedHeaders({ id, body, timestampSeconds: Math.floor(this.clock.nowMs() / 1_000) }, secrets);
    const status = await this.statusOf(url, body, headers);
    return { status, durationMs: Math.round(this.clock.monotonicMs() - startedMs) };
  }

  private async statusOf(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number | null> {
    try {
      const options = { headers, body, timeoutMs: TIMEOUT_MS, maxBytes: 0, discardBody: true };
      return (await this.outbound.post(url, options)).status;
    } catch (error) {
      if (error instanceof OutboundError) return null;
      throw error;
    }
  }
}
