import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AttentionRepository, type AttentionRow } from './attention.repository.js';
import { ATTENTION_KINDS, type AttentionKind, attentionTimes } from './attention.rules.js';

/** A fact that needs attention. Source: docs/reference/management-api.md#attention. */
export interface AttentionItem extends AttentionRow {
  readonly kind: AttentionKind;
}

/** Finds what needs attention in an account. Each item describes the current state: it disappears once it is fixed. */
@Injectable()
export class Attention {
  constructor(
    private readonly repository: AttentionRepository,
    private readonly clock: Clock,
  ) {}

  /** By kind, in the order of `ATTENTION_KINDS`. One query at a time, so that a page cannot take all connections. */
  async of(organizationId: string): Promise<AttentionItem[]> {
    const times = attentionTimes(this.clock.now());
    const items: AttentionItem[] = [];
    for (const kind of ATTENTION_KINDS) {
      const rows = await this.repository.list(organizationId, kind, times);
      items.push(...rows.map((row) => ({ kind, ...row })));
    }
    return items;
  }
}
