import { Injectable } from '@nestjs/common';
import * as expired from './expired-rows.js';
import type { RetentionStep } from './retention-step.js';
import { SecretResealing } from './secret-resealing.service.js';
import { UsageRetention } from './usage-retention.service.js';

/**
 * All retention steps. Secrets and personal data precede long-running steps; users follow all rows that reference them.
 */
@Injectable()
export class RetentionSteps {
  readonly inOrder: readonly RetentionStep[];

  constructor(usage: UsageRetention, secrets: SecretResealing) {
    this.inOrder = [
      expired.PRUNE_AUTH_EVENTS,
      expired.PRUNE_CHALLENGES,
      expired.PRUNE_DEVICE_KEYS,
      expired.PRUNE_RECEIPTS,
      expired.PRUNE_INVITATIONS,
      expired.PRUNE_AUDIT_EVENTS,
      expired.PRUNE_SESSIONS,
      expired.PRUNE_MANAGEMENT_KEYS,
      ...usage.steps,
      expired.PRUNE_BUDGETS,
      expired.PRUNE_LIMIT_COUNTS,
      expired.PRUNE_USERS,
      ...secrets.steps,
    ];
  }
}
