import { ApiProperty } from '@nestjs/swagger';
import type { AccountEventPage } from '../account-events.service.js';
import { UsageEventResponse } from './usage-events.response.js';

export class AccountEventsResponse {
  @ApiProperty({ type: 'string', nullable: true, description: 'The asked application; null: the account.' })
  app_id: string | null;

  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, inclusive.' })
  to: string;

  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Cursor of the next answer; null: the period has no older events. A page that is not full may have one.',
  })
  next: string | null;

  @ApiProperty({ type: [UsageEventResponse], description: 'Newest first.' })
  events: UsageEventResponse[];

  static from({ appId, from, to, limit, events, next }: AccountEventPage): AccountEventsResponse {
    return Object.assign(new AccountEventsResponse(), {
      ...{ app_id: appId, from, to, limit },
      next: next === null ? null : `${next.createdAtUs}-${next.id}`,
      events: events.map(UsageEventResponse.from),
    });
  }
}
