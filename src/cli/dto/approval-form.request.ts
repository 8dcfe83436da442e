import { OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import { SIGN_IN_STEPS, SignInForm } from '../../sign-in/page-sign-in.service.js';
import type { Approval } from '../handoff/handoff.service.js';
import { requireTypedSecret } from './typed-secret.rules.js';

/** What a button of the approval page does; without one the page is shown. */
export const APPROVAL_STEPS = ['approve', 'deny', ...SIGN_IN_STEPS] as const;

/** A form of the approval page. Its fields depend on the step. */
export class ApprovalForm extends SignInForm {
  @Verbatim({ max: 256 })
  readonly submissionToken: string;

  @OneOf(APPROVAL_STEPS, { optional: true })
  readonly step?: (typeof APPROVAL_STEPS)[number];

  @Text({ max: 256, optional: true })
  readonly organizationId?: string;

  @Verbatim({ min: 0, max: MAX_SECRET_CHARACTERS, optional: true })
  readonly secret?: string;

  /** @throws invalid_request without the confirmation, and at `secret` as the route of a provider. */
  toApproval(): Approval {
    const { organizationId, secret } = this;
    this.requireSure();
    requireTypedSecret(secret);
    return { organizationId, secret };
  }
}
