import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { chargesOf } from '../budgets/budget.rules.js';
import type { BudgetHold } from '../budgets/budget-hold.js';
import { Budgets } from '../budgets/budgets.service.js';
import { Ids } from '../common/ids.js';
import type { JournalEntry } from '../platform/journal/journal-entry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { EventIds } from './event/event-ids.js';
import { chargedNanoUsd, chargeOf, unresolvedReason } from './event/usage-estimate.rules.js';
import {
  type AdmittedEvent,
  admissionMembers,
  fixedMembers,
  interruptedCharge,
  interruptedEvent,
  settledEvent,
} from './event/usage-event.rules.js';
import type { UsageAdmission, UsageOutcome } from './usage-event.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsageResponses } from './usage-responses.service.js';
import { UsageWriter } from './usage-writer.service.js';

/** Kinds of calls whose common members are kept rendered. */
const MAX_FIXED = 1_000;

/** A request that was admitted; to be settled once, however it ends. */
export interface UsageTicket extends AdmittedEvent {
  readonly entry: JournalEntry;
  /** What budgets hold for it, until its event is stored. */
  readonly holds: readonly BudgetHold[];
}

/** How a request ended, as text, and what it counts against budgets. */
interface Settlement {
  readonly event: string;
  readonly chargedNanoUsd: number;
}

/** Records every request that reaches a provider, exactly once. */
@Injectable()
export class UsageRecorder implements OnApplicationShutdown {
  private readonly eventIds: EventIds;
  private readonly fixed = new LRUCache<string, string>({ max: MAX_FIXED });

  constructor(
    private readonly journal: UsageJournal,
    private readonly writer: UsageWriter,
    private readonly responses: UsageResponses,
    private readonly incidents: UsageIncidents,
    private readonly metrics: Metrics,
    private readonly budgets: Budgets,
    ids: Ids,
  ) {
    this.eventIds = new EventIds(ids);
  }

  /** @param nowMs milliseconds since the Unix epoch. */
  newEventId(nowMs: number): string {
    return this.eventIds.next(nowMs);
  }

  /**
   * Writes a request down, to be called right before it is sent to its provider. From here on it has an event, even if
   * the process is killed.
   *
   * @param holds the money that budgets hold for it: settled with its event and not to be released any more.
   * @throws service_unavailable it could not be written down and must not be sent; its holds stay the caller's.
   */
  admit(admission: UsageAdmission, holds: readonly BudgetHold[] = []): UsageTicket {
    const members = admissionMembers(admission, this.fixedOf(admission));
    const event = interruptedEvent(members, admission, interruptedCharge(admission, 0));
    return { admission, members, entry: this.journal.admit(event), holds };
  }

  /**
   * Writes down that a request goes on to another target, to be called right before it is sent there. Its event stays
   * the same one; from here on it tells of this target.
   *
   * @param unheardNanoUsd what targets may charge for that were called before, in whole nano-dollars.
   */
  redirect({ entry, holds }: UsageTicket, admission: UsageAdmission, unheardNanoUsd: number): UsageTicket {
    const members = admissionMembers(admission, this.fixedOf(admission));
    const charge = interruptedCharge(admission, unheardNanoUsd);
    this.journal.readmit(entry, interruptedEvent(members, admission, charge));
    return { admission, members, entry, holds };
  }

  /** Rendered once for all calls that are alike; the key holds everything {@link fixedMembers} reads. */
  private fixedOf(admission: UsageAdmission): string {
    const { appId, apiKeyId, authMethod, providerId, providerSlug, modelAuthor, endpointSlug, route, model } =
      admission;
    const who = `${appId}\n${apiKeyId}\n${authMethod}`;
    const whom = `${providerId}\n${providerSlug}\n${admission.providerGatewayId}\n${admission.providerGatewayType}`;
    const alike = `${who}\n${whom}\n${modelAuthor}\n${endpointSlug}\n${route}\n${model}`;
    const known = this.fixed.get(alike);
    if (known !== undefined) return known;
    const rendered = fixedMembers(admission);
    this.fixed.set(alike, rendered);
    return rendered;
  }

  /** Records how a request ended. Never throws; what is said of a ticket that is settled already is not heard. */
  settle(ticket: UsageTicket, outcome: UsageOutcome): void {
    if (ticket.entry.settled) return;
    const { event, chargedNanoUsd } = this.settled(ticket, outcome);
    this.journal.settle(ticket.entry, event);
    const charges = chargesOf(ticket.holds, chargedNanoUsd);
    for (const [at, hold] of ticket.holds.entries()) hold.settle(charges[at] ?? 0);
    this.writer.add(ticket.entry, ticket.holds);
  }

  /** Stores what is settled. Returns after an attempt that failed: the journal then keeps the rest for the next start. */
  flush(): Promise<void> {
    return this.writer.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    await this.journal.close();
    await this.budgets.leave();
  }

  private settled(ticket: UsageTicket, outcome: UsageOutcome): Settlement {
    const { admission, members } = ticket;
    try {
      const charge = chargeOf(admission, outcome);
      const { cost, estimateNanoUsd } = charge;
      const reason = unresolvedReason(charge);
      if (reason !== undefined) this.incidents.unresolved(admission, outcome.contentType, reason);
      this.metrics.settled(admission.providerType, outcome.reading, cost, estimateNanoUsd);
      const { responseId } = outcome.reading ?? {};
      if (responseId !== undefined) this.responses.remember(admission.appId, admission.userId, responseId);
      return { event: settledEvent(ticket, outcome, charge), chargedNanoUsd: chargedNanoUsd(charge) };
    } catch (error) {
      // A defect of ours must not lose the event: it is recorded as one whose end is unknown.
      this.incidents.unexpected(error);
      const charge = interruptedCharge(admission, outcome.unheardNanoUsd ?? 0);
      return { event: interruptedEvent(members, admission, charge), chargedNanoUsd: charge };
    }
  }
}
