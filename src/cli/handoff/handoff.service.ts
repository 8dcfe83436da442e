import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PersonPrincipal } from '../../accounts/access/admin-principal.js';
import { UnclaimedOrganizations } from '../../accounts/organizations/unclaimed-organizations.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { requirePending, requireSignedIn } from '../../sign-in/approvals/approval.rules.js';
import { type ApprovalKind, Approvals, type Viewing } from '../../sign-in/approvals/approvals.service.js';
import type { BrowserClient } from '../../sign-in/browser-sessions.service.js';
import type { SignInPurpose } from '../../sign-in/page-sign-in.service.js';
import { LoginKeys } from '../logins/login-keys.service.js';
import { type CodeTyper, UserCodes } from '../logins/user-codes.service.js';
import { ASKED_IN, approvalPath, noSuchOperation } from '../operations/operation.rules.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';
import { isResourceKind } from '../operations/resource-operations.js';
import { type OperationPreview, TerminalOperations } from '../operations/terminal-operations.service.js';

/** Why the viewer cannot approve. */
export type HandoffBlock = Viewing['blockedBy'] | 'sign_out_required';

/** An operation as the approval page shows it. */
export interface HandoffDetails extends OperationPreview, Omit<Viewing, 'blockedBy'> {
  readonly operation: OperationRow;
  readonly userCode: string | null;
  readonly blockedBy: HandoffBlock;
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
 * many wrong user codes, from one address or in total. Source: docs/reference/management-api.md#terminal-approval.
 */
@Injectable()
export class Handoffs {
  readonly #kind: ApprovalKind<OperationRow>;

  constructor(
    private readonly operations: OperationsRepository,
    private readonly approvals: Approvals,
    private readonly codes: UserCodes,
    private readonly keys: LoginKeys,
    private readonly terminals: TerminalOperations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.#kind = {
      repository: operations,
      unknown: noSuchOperation,
      wrongProof: 'submissionToken: is not the proof of this operation; open the link of your terminal again.',
    };
  }

  /** @throws operation_denied, operation_expired, already_completed; and as the class. */
  async details(id: string, submission: Secret, browser: BrowserClient): Promise<HandoffDetails> {
    const operation = await this.authorized(id, submission, browser);
    requirePending(operation, this.clock.nowMs());
    const preview = await this.terminals.preview(operation);
    const viewing = await this.approvals.viewing(browser);
    const userCode = this.codes.shownFor(operation);
    return { operation, ...preview, userCode, ...viewing, blockedBy: blockOf(operation, viewing) };
  }

  /**
   * Approves. A login and a claim need a signed-in person, and repeating them with the same person returns the same;
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
    const decided = this.approvals.decide(this.#kind, id, 'completed', async (tx, locked) => {
      const person = requireSignedIn(browser.session, 'approve');
      return kind === 'claim' ? this.claim(tx, locked, person) : this.logIn(tx, locked, person, approval);
    });
    return kind === 'claim' ? this.terminals.noting(id, () => decided) : decided;
  }

  private async logIn(
    tx: EntityManager,
    login: OperationRow,
    person: PersonPrincipal,
    { organizationId }: Approval,
  ): Promise<Approved> {
    const isRepeated = login.state === 'completed';
    if (isRepeated && login.identityId !== person.identityId) throw new GatewayError('already_completed');
    const redirectUrl = isRepeated
      ? this.keys.redirectOf(login)
      : await this.keys.approve(tx, login, person, organizationId);
    return { message: 'Your terminal is logged in. Return to it.', continueTo: 'cli', redirectUrl };
  }

  private async claim(tx: EntityManager, claim: OperationRow, person: PersonPrincipal): Promise<Approved> {
    const { id, organizationId, identityId: serviceId } = claim;
    if (organizationId === null || serviceId === null) throw new Error('A claim names no account.');
    const result = { claimedBy: person.identityId };
    if (claim.state !== 'completed') {
      await this.unclaimed.claimFromService(tx, { organizationId, serviceId }, person);
      await this.operations.update(tx, id, { state: 'completed', result, failure: null });
    } else if (JSON.stringify(claim.result) !== JSON.stringify(result)) throw new GatewayError('already_completed');
    const message = `You now own this account. The ${ASKED_IN[claim.actionSource]} keeps its access.`;
    return { message, continueTo: 'console', redirectUrl: null };
  }

  private async submitResource(operation: OperationRow, { secret }: Approval): Promise<Approved> {
    if (operation.state !== 'completed') {
      requirePending(operation, this.clock.nowMs());
      await this.terminals.approve(operation, secret);
    }
    const message = `Done. Return to your ${ASKED_IN[operation.actionSource]}.`;
    return { message, continueTo: 'cli', redirectUrl: null };
  }

  /**
   * Denies for any holder of the link or code; a signed-in person's denial is in the audit trail. Repeating it returns
   * the same.
   *
   * @throws already_completed, operation_expired; and as the class.
   */
  async deny(id: string, submission: Secret, browser: BrowserClient): Promise<void> {
    await this.authorized(id, submission, browser);
    const denied = await this.approvals.deny(this.#kind, id, browser, ({ kind, client }) => ({
      ...{ action: 'cli_operation.denied', targetType: 'cli_operation', targetId: id },
      details: { kind, ...(client === null ? {} : { client: client.label }) },
    }));
    if (denied.state === 'pending') this.log.event('cli_operation_denied', { operation: id });
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
    requirePending(operation, this.clock.nowMs());
    return { page: approvalPath(id), isClaiming: operation.kind === 'claim' };
  }

  private authorized(id: string, proof: Secret, browser: CodeTyper): Promise<OperationRow> {
    return this.approvals.authorized(this.#kind, id, proof, (found) => this.codes.isProof(found, proof, browser));
  }
}

/** What the viewer has to do before they can approve. */
function blockOf({ kind, organizationId }: OperationRow, { viewer, memberships, blockedBy }: Viewing): HandoffBlock {
  if (isResourceKind(kind)) return null;
  if (kind === 'login' || viewer === null) return blockedBy;
  return memberships.some(({ organization }) => organization.id !== organizationId) ? 'sign_out_required' : null;
}
