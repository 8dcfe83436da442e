import { Injectable } from '@nestjs/common';
import type { AppRow } from '../../app-directory/app.entity.js';
import { AppConfigParser } from '../../app-directory/app-config-parser.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { proofOfMethod } from '../callers/gateway-token.rules.js';
import type { AdmittedAttemptsRow } from '../events/auth-event.js';
import { AuthEventReports } from '../events/auth-event-reports.service.js';
import {
  type AdmittedAttempts,
  enforced,
  type LostAttempts,
  lostBy,
  type ProvingAuthentication,
  refusalOf,
} from './enforcement-preview.rules.js';

/**
 * The attempts that a configuration would have refused. Source:
 * docs/reference/management-api.md#preview-of-enforcement.
 */
export interface EnforcementPreview {
  /** That were admitted. */
  readonly attempts: number;
  readonly wouldReject: number;
  /** Different known users of the refused attempts; undefined: none of them is known. */
  readonly users: number | undefined;
  /** The largest first. */
  readonly by: readonly LostAttempts[];
}

/** Maximum number of parts of an answer. */
const MAX_PARTS = 1_000;

/** Replays recorded attempts against a configuration. */
@Injectable()
export class EnforcementPreviews {
  constructor(
    private readonly parser: AppConfigParser,
    private readonly reports: AuthEventReports,
  ) {}

  /**
   * @param sent `authentication` to preview; absent: the stored one with every proof enforced.
   * @param days UTC days, today included.
   * @throws invalid_request it is not valid, or not of device proofs.
   */
  async of(app: AppRow, sent: object | undefined, days: number): Promise<EnforcementPreview> {
    const authentication = this.candidate(app, sent);
    const rows = (await this.reports.admittedAttempts(app, days)).map(toAttempts);
    const lost: LostAttempts[] = [];
    const marks: string[] = [];
    for (const row of rows) {
      const reason = refusalOf(row, authentication);
      if (reason === undefined) continue;
      lost.push({ proof: row.proof, reason, day: row.day, appVersion: row.appVersion, attempts: row.attempts });
      marks.push(row.mark);
    }
    const users = await this.reports.usersOf(app, days, [...new Set(marks)]);
    return {
      attempts: sumOf(rows),
      wouldReject: sumOf(lost),
      users: users === 0 && lost.length > 0 ? undefined : users,
      by: lostBy(lost).slice(0, MAX_PARTS),
    };
  }

  private candidate(app: AppRow, sent: object | undefined): ProvingAuthentication {
    if (sent === undefined) {
      const { config } = this.parser.read(app.config);
      const authentication = config && enforced(config.authentication);
      if (authentication !== undefined) return authentication;
      throw invalidRequest('authentication', 'is required: the application accepts no device proofs');
    }
    const { authentication } = this.parser.parse({ ...Object(app.config), authentication: sent });
    if (authentication.type === 'device_proofs') return authentication;
    throw invalidRequest('authentication.type', 'must be device_proofs');
  }
}

/** The proof of attempts that did not name it is derived from their method. */
function toAttempts(row: AdmittedAttemptsRow): AdmittedAttempts & { readonly mark: string } {
  const { day, outcome, reason, facts, mark } = row;
  const proof = row.proof ?? proofOfMethod(row.auth_method) ?? null;
  return { day, proof, outcome, reason, facts, mark, appVersion: row.app_version, attempts: Number(row.count) };
}

function sumOf(rows: readonly { readonly attempts: number }[]): number {
  return rows.reduce((sum, { attempts }) => sum + attempts, 0);
}
