import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type BudgetAmounts, chargesOf } from '../../budgets/budget.rules.js';
import type { BudgetHold } from '../../budgets/budget-hold.js';
import { WINDOW_KINDS } from '../../budgets/budget-period.rules.js';
import { Budgets } from '../../budgets/budgets.service.js';
import { Ids } from '../../common/ids.js';
import { lruCache } from '../../common/lru-cache.js';
import type { JournalEntry } from '../../platform/journal/journal-entry.js';
import { type EventKind, eventKind } from '../../platform/journal/journal-lines.rules.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { EventIds } from './event/event-ids.js';
import { chargedNanoUsd, chargedTokens, chargeOf, unresolvedReason } from './event/usage-estimate.rules.js';
import {
  type AdmittedEvent,
  areOfOneKind,
  fixedMembers,
  interruptedCharge,
  interruptedHead,
  limitsMember,
  ownMembers,
  settledHead,
} from './event/usage-event.rules.js';
import { KeptObjects } from './kept-objects.service.js';
import type { UsageAdmission, UsageOutcome } from './usage-event.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsageWriter } from './usage-writer.service.js';

/** Capacity of each cache of kinds. */
const MAX_KINDS = 1_000;

/** An admitted request; settled exactly once. */
export interface UsageTicket extends AdmittedEvent {
  readonly entry: JournalEntry;
  readonly kind: EventKind;
  /** The budget holds of the request, kept until its event is stored. */
  readonly holds: readonly BudgetHold[];
}

/** A kind, with the first call of it. */
interface KnownKind {
  readonly kind: EventKind;
  readonly first: UsageAdmission;
}

/** The final event, and its budget charge. */
interface Settlement {
  /** From `settledHead` or `interruptedHead`. */
  readonly head: string;
  readonly charged: BudgetAmounts;
}

/** Records every request that reaches a provider exactly once. */
@Injectable()
export class UsageRecorder implements OnApplicationShutdown {
  private readonly eventIds: EventIds;
  private lastKind = 0;
  private readonly kinds = lruCache<KnownKind>(MAX_KINDS);
  /** By application. */
  private readonly latestKinds = lruCache<KnownKind>(MAX_KINDS);

  constructor(
    private readonly journal: UsageJournal,
    private readonly writer: UsageWriter,
    private readonly keptObjects: KeptObjects,
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
   * Announces a request that was admitted. Until its event is stored, {@link dismiss} is called, or its process is
   * recovered, usage from its time on counts as incomplete.
   *
   * @param createdAtMs the time of its event.
   */
  expect(createdAtMs: number): void {
    this.journal.unstored.begin(createdAtMs);
  }

  /** An announced request will have no event. */
  dismiss(createdAtMs: number): void {
    this.journal.unstored.end(createdAtMs);
  }

  /**
   * Writes the admission record of a request. The caller must call this directly before it sends the request to the
   * provider. From then on the request has an event, even if the process is killed.
   *
   * @param holds the budget holds of the request, settled together with its event; the caller must not release them.
   * @throws service_unavailable the journal write failed: the request must not be sent, and the caller still owns the
   *   holds.
   */
  admit(admission: UsageAdmission, holds: readonly BudgetHold[] = []): UsageTicket {
    const event = this.eventOf(admission, holds);
    const entry = this.journal.admit(interruptedHead(event, interruptedCharge(admission, 0)), event.kind);
    return { ...event, entry, holds };
  }

  /**
   * Writes that a request goes to another target. The caller must call this directly before it sends the request there.
   * The event keeps its id and describes the new target from then on.
   *
   * @param unansweredNanoUsd estimated charge of the targets that were called before, in whole nano-dollars.
   */
  redirect({ entry, holds }: UsageTicket, admission: UsageAdmission, unansweredNanoUsd: number): UsageTicket {
    const event = this.eventOf(admission, holds);
    this.journal.readmit(entry, interruptedHead(event, interruptedCharge(admission, unansweredNanoUsd)), event.kind);
    return { ...event, entry, holds };
  }

  private eventOf(admission: UsageAdmission, holds: readonly BudgetHold[]) {
    const budgets = holds.map(({ budget }) => budget);
    const own = ownMembers(admission) + limitsMember(budgets, admission.createdAtMs);
    const countsTokens = budgets.some(({ window }) => WINDOW_KINDS[window].measure === 'tokens');
    return { admission, own, countsTokens, kind: this.kindOf(admission) };
  }

  /** The kind of a call, cached; most calls are of the latest kind of their application. */
  private kindOf(admission: UsageAdmission): EventKind {
    const latest = this.latestKinds.get(admission.appId);
    if (latest !== undefined && areOfOneKind(latest.first, admission)) return latest.kind;
    const known = this.knownKind(admission);
    this.latestKinds.set(admission.appId, known);
    return known.kind;
  }

  /** The cache key contains every field that {@link fixedMembers} reads. */
  private knownKind(admission: UsageAdmission): KnownKind {
    const { appId, apiKeyId, authMethod, providerId, providerSlug, modelAuthor, endpointSlug, route, model } =
      admission;
    const who = `${appId}\n${apiKeyId}\n${authMethod}`;
    const whom = `${providerId}\n${providerSlug}\n${admission.providerGatewayId}\n${admission.providerGatewayType}`;
    const alike = `${who}\n${whom}\n${modelAuthor}\n${endpointSlug}\n${route}\n${model}`;
    let known = this.kinds.get(alike);
    if (known === undefined) {
      known = { kind: eventKind(++this.lastKind, `${fixedMembers(admission)}}`), first: admission };
      this.kinds.set(alike, known);
    }
    return known;
  }

  /** Records how a request ended. Never throws. A ticket that is settled already stays unchanged. */
  settle(ticket: UsageTicket, outcome: UsageOutcome): void {
    if (ticket.entry.settled) return;
    const { head, charged } = this.settled(ticket, outcome);
    this.journal.settle(ticket.entry, head, ticket.kind);
    const charges = chargesOf(ticket.holds, charged);
    for (const [at, hold] of ticket.holds.entries()) hold.settle(charges[at] ?? 0);
    const { entry, kind, holds, admission } = ticket;
    this.writer.add(entry, { kind, holds, createdAtMs: admission.createdAtMs });
  }

  /** Stores settled events. Returns after a failed attempt: the journal then keeps the rest for the next start. */
  flush(): Promise<void> {
    return this.writer.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    await this.journal.close();
    await this.budgets.leave();
  }

  private rememberKept({ appId, userId }: UsageAdmission, { reading }: UsageOutcome): void {
    if (reading?.responseId !== undefined) this.keptObjects.rememberResponse(appId, userId, reading.responseId);
    if (reading?.keptIds !== undefined) this.keptObjects.remember(appId, userId, reading.keptIds);
  }

  private settled(ticket: UsageTicket, outcome: UsageOutcome): Settlement {
    const { admission } = ticket;
    try {
      const charge = chargeOf(admission, outcome);
      const { cost, estimateNanoUsd } = charge;
      const reason = unresolvedReason(charge);
      if (reason !== undefined) this.incidents.unresolved(admission, outcome.contentType, reason);
      this.metrics.settled(admission.providerType, outcome.reading, cost, estimateNanoUsd);
      this.rememberKept(admission, outcome);
      const tokens = ticket.countsTokens ? chargedTokens(admission, outcome) : 0;
      const charged = { money: chargedNanoUsd(charge), tokens, requests: 1 };
      return { head: settledHead(ticket, outcome, charge), charged };
    } catch (error) {
      // A bug in this code must not lose the event: it is recorded as interrupted.
      this.incidents.unexpected(error);
      const charge = interruptedCharge(admission, outcome.unansweredNanoUsd ?? 0);
      const charged = { money: charge, tokens: admission.sent.inputTokens, requests: 1 };
      return { head: interruptedHead(ticket, charge), charged };
    }
  }
}
