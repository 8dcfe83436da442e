import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { PeopleRepository, type PersonChanges, type PersonRow } from './people.repository.js';

/** What people see and change of themselves. */
@Injectable()
export class Profile {
  constructor(
    private readonly people: PeopleRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws Error nobody has this id, which a session cannot have: it would be gone with its person. */
  async read({ identityId }: { readonly identityId: string }): Promise<PersonRow> {
    const person = await this.people.find(identityId);
    if (person === undefined) throw new Error('A session belongs to nobody.');
    return person;
  }

  async update(acting: { readonly identityId: string }, changes: PersonChanges): Promise<PersonRow> {
    await this.people.update(acting.identityId, changes, this.clock.now());
    return this.read(acting);
  }
}
