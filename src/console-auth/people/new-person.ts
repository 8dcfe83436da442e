import type { Secret } from '../../common/log/secret.js';
import type { PersonRow } from './people.repository.js';

/** A person to register. */
export interface NewPerson extends Pick<PersonRow, 'name' | 'image' | 'emailVerified'> {
  /** In the form of `comparableEmail`. */
  readonly email: string;
  /** The token of an invitation. */
  readonly invitation: Secret | undefined;
  /** The bootstrap key, which claims its account; never together with an invitation. */
  readonly bootstrapKey?: Secret | undefined;
}
