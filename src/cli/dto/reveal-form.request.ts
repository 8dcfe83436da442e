import { OneOf } from '../../common/fields/fields.js';
import { SignInForm } from '../../sign-in/page-sign-in.service.js';

/** What a button of the page that reveals a key does. Registration is not offered: a new person has no key to see. */
const REVEAL_STEPS = ['reveal', 'sign-in', 'google', 'sign-out'] as const;

/** A form of the page that reveals a key. Its fields depend on the step. */
export class RevealForm extends SignInForm {
  @OneOf(REVEAL_STEPS)
  readonly step: (typeof REVEAL_STEPS)[number];
}
