import type { AppLimits } from '../../app-directory/app-limits.rules.js';
import { nanoUsdInUsd, toNanoUsd, UNPROVEN_GROUP } from '../../app-directory/config/limits-config.js';
import { type CallGroups, isGroupValue } from '../../app-directory/group-value.rules.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';
import { type GatewayRequest, RUN_BUDGET_HEADER, RUN_ID_HEADER } from '../../common/http/gateway-request.js';

/** 1 to 128 printable ASCII characters. */
const RUN_ID = /^[ -~]{1,128}$/;
/** US dollars with at most six decimals. */
const DOLLARS = /^\d{1,7}(?:\.\d{1,6})?$/;

/** The run that a call belongs to, as its client names it. */
export interface NamedRun {
  readonly id: string;
  /** Whole nano-dollars; undefined: that of the first call, or the maximum. */
  readonly budgetNanoUsd: number | undefined;
  /** The largest budget that the application allows, in whole nano-dollars. */
  readonly maxNanoUsd: number;
}

/** The subjects that a call counts against, besides its user and application. */
export interface CallSubjects {
  /** Null: the application has no groups. */
  readonly groups: CallGroups | null;
  readonly run: NamedRun | undefined;
}

/** The pool of unproven devices. */
const OF_UNPROVEN: CallGroups = { [UNPROVEN_GROUP]: 'all' };

/** For a call that counts against nothing else. */
export const NO_SUBJECTS: CallSubjects = { groups: null, run: undefined };

/**
 * Reads the groups and the run of a call.
 *
 * @throws invalid_request a header is missing or cannot be read, or the caller may not use runs; auth_required the
 *   token was issued before the application had one of its groups.
 * Source: docs/reference/accounting.md#groups-and-runs.
 */
export function subjectsOf(caller: Caller, { headers }: GatewayRequest): CallSubjects {
  const limits = caller.app.limits;
  const groups = limits?.groups ?? [];
  const isPooled = caller.unproven === 'tier' && limits?.unproven !== undefined;
  const hasGroups = groups.length > 0 || isPooled;
  const isOfRun = headers[RUN_ID_HEADER] !== undefined || headers[RUN_BUDGET_HEADER] !== undefined;
  if (!isOfRun && !hasGroups) return NO_SUBJECTS;
  return {
    groups: hasGroups ? { ...groupsOf(caller, groups, headers), ...(isPooled && OF_UNPROVEN) } : null,
    run: isOfRun ? runOf(caller, headers) : undefined,
  };
}

/**
 * Refuses calls that unproven devices may not make.
 *
 * @param endpointSlug null: a proxy route.
 * @throws path_not_allowed
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
export function requireAllowedUnproven({ app, unproven }: Caller, endpointSlug: string | null): void {
  if (unproven !== 'tier') return;
  const allowed = app.limits?.unproven?.endpoints;
  if (allowed === undefined || (endpointSlug !== null && allowed.has(endpointSlug))) return;
  throw new GatewayError('path_not_allowed', {
    message: 'The application does not allow this call to devices without a proof; register the device.',
    reason: 'endpoint_needs_proof',
  });
}

function groupsOf(caller: Caller, groups: AppLimits['groups'], headers: GatewayRequest['headers']): CallGroups {
  const named: Record<string, string> = {};
  for (const { name, header } of groups) {
    // Read from the token only: a phone must not choose its group.
    const value = header === undefined ? caller.tokenGroups?.[name] : headers[header];
    if (isGroupValue(value)) named[name] = value;
    else throw groupMissing(name, header);
  }
  return named;
}

function groupMissing(name: string, header: string | undefined): GatewayError {
  if (header === undefined)
    return new GatewayError('auth_required', {
      message: `The gateway token does not name the group "${name}"; exchange a new token.`,
      reason: 'token_groups_missing',
    });
  return invalidHeader(
    header,
    `must name the group "${name}" of the call: 1 to 128 printable characters`,
    'group_header_missing',
  );
}

function runOf(caller: Caller, headers: GatewayRequest['headers']): NamedRun {
  const maxNanoUsd = caller.app.limits?.runMaxNanoUsd;
  if (maxNanoUsd === undefined)
    throw invalidHeader(RUN_ID_HEADER, 'is not allowed: the application has no limits.runs', 'run_not_allowed');
  if (caller.tokenGroups !== null)
    throw invalidHeader(RUN_ID_HEADER, 'needs an application key; a gateway token cannot use it', 'run_not_allowed');
  const id = headers[RUN_ID_HEADER];
  if (typeof id !== 'string' || !RUN_ID.test(id))
    throw invalidHeader(RUN_ID_HEADER, 'must be 1 to 128 printable ASCII characters', 'run_invalid');
  const asked = headers[RUN_BUDGET_HEADER];
  if (asked === undefined) return { id, budgetNanoUsd: undefined, maxNanoUsd };
  if (typeof asked !== 'string' || !DOLLARS.test(asked) || Number(asked) === 0)
    throw invalidHeader(
      RUN_BUDGET_HEADER,
      'must be US dollars above 0 with at most six decimals, such as 0.50',
      'run_invalid',
    );
  const budgetNanoUsd = toNanoUsd(Number(asked));
  if (budgetNanoUsd > maxNanoUsd)
    throw invalidHeader(
      RUN_BUDGET_HEADER,
      `must be at most ${nanoUsdInUsd(maxNanoUsd)}, the maximum of the application`,
      'run_budget_differs',
    );
  return { id, budgetNanoUsd, maxNanoUsd };
}

/** A refusal that names a header. */
export function invalidHeader(header: string, problem: string, reason: Reason): GatewayError {
  return new GatewayError('invalid_request', { message: `The header ${header} ${problem}.`, reason });
}
