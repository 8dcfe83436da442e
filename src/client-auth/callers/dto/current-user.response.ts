import { ApiProperty } from '@nestjs/swagger';
import { UserLimitsResponse } from '../../../users/dto/user-limits.response.js';
import type { CurrentUser } from '../me.service.js';

export class CurrentUserResponse {
  @ApiProperty({ type: 'string' })
  user_id: string;

  @ApiProperty({ type: UserLimitsResponse })
  limits: UserLimitsResponse;

  static from({ userId, standing }: CurrentUser): CurrentUserResponse {
    return Object.assign(new CurrentUserResponse(), { user_id: userId, limits: UserLimitsResponse.from(standing) });
  }
}
