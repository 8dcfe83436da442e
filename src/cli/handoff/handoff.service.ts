import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type ActingPerson, type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import type { Membership, Organization } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { UnclaimedOrganizations } from '../../accounts/organizations/unclaimed-organizations.service.js';
import type { ValidSession } from '../../accounts/sessions/sessions.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { CountedOnce } from '../../platform/address-limits/counted-once.js';
import type { BrowserClient } from '../../sign-in/browser-sessions.service.js';
import type { SignInPurpose } from '../../sign-in/page-sign-in.service.js';
import { People } from '../../sign-in/people/people.service.js';
import { LoginKeys } from '../logins/login-keys.service.js';
import { type CodeTyper, UserCodes } from '../logins/user-codes.service.js';
import { ASKED_IN, approvalPath, noSuchOperation, stateAt } from '../operations/operation.rules.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';
import { requireStillPending } from '../operations/pending-operations.service.js';
import { isResourceKind } from '../operations/resource-operations.js';
import { type OperationPreview, TerminalOperations } from '../operations/terminal-operations.service.js';

/** Why the viewer cannot approve. */
export type HandoffBlock = 'registration_required' | 'sign_out_required' | 'no_eligible_organization';

/** An operation as the approval page shows it. */
export interface HandoffDetails extends OperationPreview {
  readonly operation: OperationRow;
  /** The account it is for; null for a login. */
  readonly account: Organization | null;
  readonly userCode: string | null;
  readonly viewer: { readonly name: string | null; readonly email: string } | null;
  readonly blockedBy: HandoffBlock | null;
  /** The accounts that a login may choose from. */
  readonly memberships: readonly Membership[];
}

/** What the person decides on the approval page. */
export interface Approval {
  readonly organizationId?: string | undefined;
  /** The key of a provider or gateway. */
  readonly secret?: string | undefined;
}

/** The result of an approval. */
export interface Approved {
  readonly message: string;
  readonly continueTo: 'cli' | 'console';
  readonly redirectUrl: string | null;
}

/**
 * The browser's side of an operation. Every method takes the proof of the link, or the user code of a login.
 *
 * @throws not_found no such operation; forbidden a wrong proof; rate_limited too many calls for one operation, or too
 * many wrong user codes, from one address or in all.
 * Source: docs/reference/management-api.md#terminal-approval.
 */
@Injectable()
export class Handoffs {
  readonly #counted = new CountedOnce();

  constructor(
    private readonly dataSource: DataSource,
    private readonly operations: OperationsRepository,
    private readonly codes: UserCodes,
    private readonly keys: LoginKeys,
    private readonly terminals: TerminalOperations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly people: People,
    private readonly organizations: Organizations,
    private readonly trail: AuditTrail,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** @throws operation_denied, operation_expired, already_completed; and as the class. */
  async details(id: string, submission: Secret, browser: BrowserClient): Promise<HandoffDetails> {
    const { session } = browser;
    const operation = await this.authorized(id, submission, browser);
    requireStillPending(operation, this.clock.nowMs());
    const { kind, organizationId } = operation;
    const shown = {
      operation,
      account: kind === 'login' || organizationId === null ? null : await this.organizations.read(organizationId),
      ...(await this.terminals.preview(operation)),
      userCode: this.codes.shownFor(operation),
    };
    if (session === undefined) {
      const blockedBy = isResourceKind(kind) ? null : 'registration_required';
      return { ...shown, viewer: null, blockedBy, memberships: [] };
    }
    const { name, email } = await this.people.profile(session.row);
    const memberships = await this.organizations.list(personOf(session));
    return { ...shown, viewer: { name, email }, blockedBy: blockOf(operation, memberships), memberships };
  }

  /**
   * Approves. A login and a claim need a signed-in person, and repeating them with the same person answers the same;
   * every other operation needs the proof alone and runs as the credential that sent it.
   *
   * @throws session_required nobody is signed in; operation_denied, operation_expired, already_completed; account_exists
   * the person who claims belongs to another account; and as the class, `LoginKeys.approve` and
   * `TerminalOperations.approve`.
   */
  async submit(id: string, submission: Secret, approval: Approval, browser: BrowserClient): Promise<Approved> {
    const operation = await this.authorized(id, submission, browser);
    const { kind } = operation;
    if (isResourceKind(kind)) return this.submitResource(operation, approval);
    const decided = this.dataSource.transaction(async (tx) => {
      const locked = await this.operations.lock(tx, id);
      if (locked === undefined) throw noSuchOperation();
      const nowMs = this.clock.nowMs();
      if (stateAt(locked, nowMs) !== 'completed') requireStillPending(locked, nowMs);
      const person = requirePerson(browser.session);
      return kind === 'claim' ? this.claim(tx, locked, person) : this.logIn(tx, locked, person, approval);
    });
    return kind === 'claim' ? this.terminals.noting(id, () => decided) : decided;
  }

  private async logIn(
    tx: EntityManager,
    login: OperationRow,
    person: ActingPerson,
    { organizationId }: Approval,
  ): Promise<Approved> {
    const message = 'Your terminal is logged in. Return to it.';
    if (login.state === 'completed') {
      if (login.identityId !== person.identityId) throw new GatewayError('already_completed');
      return { message, continueTo: 'cli', redirectUrl: this.keys.redirectOf(login) };
    }
    const redirectUrl = await this.keys.approve(tx, login, person, organizationId);
    return { message, continueTo: 'cli', redirectUrl };
  }

  private async claim(tx: EntityManager, claim: OperationRow, person: ActingPerson): Promise<Approved> {
    const { id, organizationId, identityId: serviceId } = claim;
    if (organizationId === null || serviceId === null) throw new Error('A claim names no account.');
    const done: Approved = {
      message: `You now own this account. The ${ASKED_IN[claim.actionSource]} keeps its access.`,
      continueTo: 'console',
      redirectUrl: null,
    };
    const result = { claimedBy: person.identityId };
    if (claim.state === 'completed') {
      if (JSON.stringify(claim.result) !== JSON.stringify(result)) throw new GatewayError('already_completed');
      return done;
    }
    await this.unclaimed.claimFromService(tx, { organizationId, serviceId }, person);
    await this.operations.update(tx, id, { state: 'completed', result, failure: null });
    return done;
  }

  private async submitResource(operation: OperationRow, { secret }: Approval): Promise<Approved> {
    const nowMs = this.clock.nowMs();
    if (stateAt(operation, nowMs) !== 'completed') {
      requireStillPending(operation, nowMs);
      await this.terminals.approve(operation, secret);
    }
    const message = `Done. Return to your ${ASKED_IN[operation.actionSource]}.`;
    return { message, continueTo: 'cli', redirectUrl: null };
  }

  /**
   * Denies for any holder of the link or code; a signed-in person's denial is in the audit trail. Repeating it answers the
   * same.
   *
   * @throws already_completed, operation_expired; and as the class.
   */
  async deny(id: string, submission: Secret, browser: BrowserClient): Promise<void> {
    await this.authorized(id, submission, browser);
    const isDenied = await this.dataSource.transaction(async (tx) => {
      const operation = await this.operations.lock(tx, id);
      if (operation === undefined) throw noSuchOperation();
      if (operation.state === 'denied') return false;
      requireStillPending(operation, this.clock.nowMs());
      await this.operations.update(tx, id, { state: 'denied' });
      await this.recordDenial(tx, operation, browser.session);
      return true;
    });
    if (isDenied) this.log.event('cli_operation_denied', { operation: id });
  }

  /**
   * The page of an operation for which a person may sign up or sign in. Registering is always open for a claim, and
   * gives no account of one's own.
   *
   * @throws forbidden the operation needs no person; operation_denied, operation_expired, already_completed; and as the
   * class.
   */
  async signInPurpose(id: string, submission: Secret, browser: CodeTyper): Promise<SignInPurpose> {
    const operation = await this.authorized(id, submission, browser);
    if (operation.kind !== 'login' && operation.kind !== 'claim') {
      throw new GatewayError('forbidden', {
        message: 'This step does not need a sign-in.',
        reason: 'operation_needs_no_person',
      });
    }
    requireStillPending(operation, this.clock.nowMs());
    return { page: approvalPath(id), isClaiming: operation.kind === 'claim' };
  }

  private async recordDenial(
    tx: EntityManager,
    { id, kind, client }: OperationRow,
    session: BrowserClient['session'],
  ): Promise<void> {
    const { organizationId = null, identityId = '', id: sessionId = '' } = session?.row ?? {};
    if (organizationId === null) return;
    await this.trail.record(tx, personActor(organizationId, { identityId, sessionId }), {
      ...{ action: 'cli_operation.denied', targetType: 'cli_operation', targetId: id },
      details: { kind, ...(client === null ? {} : { client: client.label }) },
    });
  }

  private async authorized(id: string, submission: Secret, browser: CodeTyper): Promise<OperationRow> {
    const operation = await this.operations.find(id);
    if (operation === undefined) throw noSuchOperation();
    if (!(await this.codes.isProof(operation, submission, browser))) {
      throw new GatewayError('forbidden', {
        message: 'submissionToken: is not the proof of this operation; open the link of your terminal again.',
        reason: 'submission_token_wrong',
      });
    }
    await this.#counted.once(submission, () => this.limits.admit('submission', { subject: id }));
    return operation;
  }
}

/** What the viewer has to do before they can approve. */
function blockOf({ kind, organizationId }: OperationRow, memberships: readonly Membership[]): HandoffBlock | null {
  if (kind === 'login') return memberships.length === 0 ? 'no_eligible_organization' : null;
  if (kind !== 'claim') return null;
  return memberships.some(({ organization }) => organization.id !== organizationId) ? 'sign_out_required' : null;
}

function personOf({ row }: ValidSession): PersonPrincipal {
  return { identityId: row.identityId, sessionId: row.id, organizationId: row.organizationId };
}

/** @throws session_required with 401: nobody is signed in. */
function requirePerson(session: BrowserClient['session']): ActingPerson {
  if (session === undefined) {
    throw new GatewayError('session_required', {
      status: 401,
      message: 'Sign in to approve this.',
      reason: 'nobody_signed_in',
    });
  }
  return { identityId: session.row.identityId, sessionId: session.row.id };
}
