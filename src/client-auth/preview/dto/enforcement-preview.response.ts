import { ApiProperty } from '@nestjs/swagger';
import type { LostAttempts } from '../enforcement-preview.rules.js';
import type { EnforcementPreview } from '../enforcement-preview.service.js';

export class LostAttemptsResponse {
  @ApiProperty({ type: 'string', nullable: true, description: 'Null: a signature of an unknown key.' })
  proof: string | null;

  @ApiProperty({ type: 'string', description: 'Of the refusal, as in authentication events.' })
  reason: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day.' })
  day: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'As claimed by `X-App-Version`.' })
  app_version: string | null;

  @ApiProperty({ type: 'integer' })
  attempts: number;

  static from({ proof, reason, day, appVersion, attempts }: LostAttempts): LostAttemptsResponse {
    return Object.assign(new LostAttemptsResponse(), { proof, reason, day, app_version: appVersion, attempts });
  }
}

export class EnforcementPreviewResponse {
  @ApiProperty({ type: 'integer', description: 'Registrations and exchanges that were admitted.' })
  attempts: number;

  @ApiProperty({ type: 'integer', description: 'Those that would be refused.' })
  would_reject: number;

  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'Number of different known users of these attempts; absent if none is known.',
  })
  users?: number;

  @ApiProperty({ type: [LostAttemptsResponse], description: 'Most attempts first; at most 1000.' })
  by: LostAttemptsResponse[];

  static from({ attempts, wouldReject, users, by }: EnforcementPreview): EnforcementPreviewResponse {
    return Object.assign(new EnforcementPreviewResponse(), {
      ...{ attempts, would_reject: wouldReject },
      ...(users !== undefined && { users }),
      by: by.map(LostAttemptsResponse.from),
    });
  }
}
