import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
import { OrganizationEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';
import { WebhookEntity, type WebhookRow } from './webhook.entity.js';

/** The fields that a write changes. */
export type WebhookChange = Partial<Omit<WebhookRow, 'id' | 'organizationId' | 'createdBy' | 'createdAt'>>;

/** The table webhooks. */
@Injectable()
export class WebhooksRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Every webhook of an account, oldest first. */
  list(organizationId: string): Promise<WebhookRow[]> {
    return this.dataSource.manager.find(WebhookEntity, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async find(organizationId: string, id: string): Promise<WebhookRow | undefined> {
    return (await this.dataSource.manager.findOneBy(WebhookEntity, { organizationId, id })) ?? undefined;
  }

  /** The number of webhooks of an account; others that are created at the same time wait. */
  async countLocked(tx: EntityManager, organizationId: string): Promise<number> {
    await this.lockAccount(tx, organizationId);
    return tx.countBy(WebhookEntity, { organizationId });
  }

  async insert(tx: EntityManager, row: WebhookRow): Promise<void> {
    await tx.insert(WebhookEntity, row);
  }

  /** @returns undefined when the account has no such webhook. */
  async change(
    tx: EntityManager,
    { organizationId, id }: Pick<WebhookRow, 'organizationId' | 'id'>,
    change: WebhookChange,
  ): Promise<WebhookRow | undefined> {
    const { affected } = await tx.update(WebhookEntity, { organizationId, id }, change);
    return affected === 1 ? tx.findOneByOrFail(WebhookEntity, { organizationId, id }) : undefined;
  }

  /**
   * With its deliveries. One deletion of an account waits for another: its event goes to the remaining webhooks, so two
   * would deadlock.
   *
   * @returns whether the account had it.
   */
  async delete(tx: EntityManager, organizationId: string, id: string): Promise<boolean> {
    await this.lockAccount(tx, organizationId);
    const { affected } = await tx.delete(WebhookEntity, { organizationId, id });
    return affected === 1;
  }

  private async lockAccount(tx: EntityManager, id: string): Promise<void> {
    await tx.findOne(OrganizationEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** The ids among these that are not applications of the account. */
  async unknownApps(organizationId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = await this.dataSource.query<{ id: string }[]>(UNKNOWN_APPS, [organizationId, ids]);
    return new Set(unknown.map(({ id }) => id));
  }

  /**
   * Leases webhooks with due deliveries to the caller, those that waited longest first.
   *
   * @returns at most `limit`; another instance gets none of them before `until`.
   */
  async lease(connection: DataSource, now: Instant, until: Instant, limit: number): Promise<WebhookRow[]> {
    const [leased]: [{ id: string }[], number] = await connection.query(LEASE, [now, limit, until]);
    if (leased.length === 0) return [];
    return connection.manager.findBy(WebhookEntity, { id: In(leased.map(({ id }) => id)) });
  }

  /** Ends a lease that is still the caller's. */
  async release(connection: DataSource, id: string, until: Instant, now: Instant): Promise<void> {
    await connection.query('UPDATE webhooks SET leased_until = $3 WHERE id = $1 AND leased_until = $2', [
      id,
      until,
      now,
    ]);
  }
}

const UNKNOWN_APPS = `
  SELECT named.id FROM unnest($2::text[]) AS named(id)
   WHERE NOT EXISTS (SELECT FROM apps WHERE apps.organization_id = $1 AND apps.id = named.id)`;

const LEASE = `
  WITH waiting AS MATERIALIZED (
    SELECT hook.id FROM webhooks hook
     WHERE hook.enabled AND hook.leased_until <= $1 AND EXISTS (
       SELECT FROM webhook_deliveries due
        WHERE due.webhook_id = hook.id AND due.status = 'pending' AND due.next_attempt_at <= $1)
     ORDER BY hook.leased_until LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE webhooks SET leased_until = $3 FROM waiting WHERE webhooks.id = waiting.id RETURNING webhooks.id`;
