import { ApiProperty } from '@nestjs/swagger';
import type { OwnSessionRow } from '../../accounts/sessions/sessions.repository.js';

class OwnSessionResource {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'boolean', description: 'Whether this request was sent with it.' })
  current: boolean;

  @ApiProperty({ type: 'string', nullable: true, description: 'Of the browser that signed in.' })
  ipAddress: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Of the browser that signed in.' })
  userAgent: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was last renewed: at most once a day.' })
  updatedAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;
}

export class OwnSessionsResponse {
  @ApiProperty({ type: [OwnSessionResource] })
  sessions: OwnSessionResource[];

  /** @param currentId the session of the request. */
  static from(rows: readonly OwnSessionRow[], currentId: string): OwnSessionsResponse {
    const sessions = rows.map(({ id, address, userAgent, createdAt, renewedAt, expiresAt }) =>
      Object.assign(new OwnSessionResource(), {
        id,
        current: id === currentId,
        ipAddress: address,
        userAgent,
        createdAt: createdAt.toISOString(),
        updatedAt: renewedAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      }),
    );
    return Object.assign(new OwnSessionsResponse(), { sessions });
  }
}

export class RevokedSessionsResponse {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Number of sessions that this request ended; 0 when another one ended them all at the same time.',
  })
  revoked: number;

  static of(revoked: number): RevokedSessionsResponse {
    return Object.assign(new RevokedSessionsResponse(), { revoked });
  }
}
