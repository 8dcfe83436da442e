import { GRANTS, type Grant } from '../../accounts/access/admin-principal.js';
import { OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { PROOF } from '../../common/proof-hash.rules.js';
import { SIGN_IN_STEPS, SignInForm } from '../../sign-in/page-sign-in.service.js';

const MAX_PROOF = 256;
const MAX_ORGANIZATION_ID = 256;
const PROOF_TEXT = '32 to 256 letters, digits, "-" and "_"';

export class ConsentRequest {
  @Text({
    max: MAX_PROOF,
    pattern: PROOF,
    patternText: PROOF_TEXT,
    description: 'The text after `#` in the address of the consent page.',
  })
  readonly submissionToken: string;
}

export class AllowConsentRequest extends ConsentRequest {
  @Text({ max: MAX_ORGANIZATION_ID, description: 'Account for the client, one of `accounts`.' })
  readonly organizationId: string;

  @OneOf(GRANTS, { description: 'At most `requestedGrant`.' })
  readonly grant: Grant;
}

/** What a button of the consent page does; without one the page is shown. */
export const CONSENT_STEPS = ['allow', 'guest', 'deny', ...SIGN_IN_STEPS] as const;

/** A form of the consent page. Its fields depend on the step. */
export class ConsentForm extends SignInForm {
  @Verbatim({ max: MAX_PROOF })
  readonly submissionToken: string;

  @OneOf(CONSENT_STEPS, { optional: true })
  readonly step?: (typeof CONSENT_STEPS)[number];

  @Text({ max: MAX_ORGANIZATION_ID, optional: true })
  readonly organizationId?: string;

  @OneOf(GRANTS, { optional: true })
  readonly grant?: Grant;
}
