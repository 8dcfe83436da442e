import type { Secret } from '../../common/log/secret.js';
import type { PersonRow } from './people.repository.js';

/** Somebody who is to be registered. */
export interface NewPerson extends Pick<PersonRow, 'name' | 'image' | 'emailVerified'> {
  /** As `comparableEmail` writes it. */
  readonly email: string;
  /** The token of an invitation they came with. */
  readonly invitation: Secret | undefined;
  /** The key that has opened the account they are to own; never with an invitation. */
  readonly bootstrapKey?: Secret | undefined;
}
