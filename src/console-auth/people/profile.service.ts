import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { PeopleRepository, type PersonChanges, type PersonRow } from './people.repository.js';

/** Reads and changes the profile of a person. */
@Injectable()
export class Profile {
  constructor(
    private readonly people: PeopleRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws Error no such person. A session ends with its person, so this is a defect. */
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
