import { ApiProperty } from '@nestjs/swagger';

export class DeletedAppResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: true;

  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Stored users deleted with it.' })
  removed_users: number;

  @ApiProperty({ type: 'boolean', enum: [true] })
  usage_events_retained: true;

  static from(appId: string, removedUsers: number): DeletedAppResponse {
    return Object.assign(new DeletedAppResponse(), {
      deleted: true,
      app_id: appId,
      removed_users: removedUsers,
      usage_events_retained: true,
    });
  }
}
