import { ApiProperty } from '@nestjs/swagger';
import type { HeldSession } from '../../identity/sessions/sessions.service.js';
import type { PersonRow } from '../people/people.repository.js';
import { SESSION_TOKEN, UserResource } from './user.response.js';

class SessionResource {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', description: SESSION_TOKEN })
  token: string;

  @ApiProperty({ type: 'string' })
  userId: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'A week after the last renewal; once a day it is renewed.',
  })
  expiresAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was renewed last.' })
  updatedAt: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Where it began; an IPv6 network of 64 bits.' })
  ipAddress: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  userAgent: string | null;
}

export class SessionResponse {
  @ApiProperty({ type: SessionResource })
  session: SessionResource;

  @ApiProperty({ type: UserResource })
  user: UserResource;

  static from({ row, token }: HeldSession, person: PersonRow): SessionResponse {
    const session = Object.assign(new SessionResource(), {
      id: row.id,
      token: token.reveal(),
      userId: row.identity_id,
      expiresAt: row.expires_at.toISOString(),
      createdAt: row.created_at.toISOString(),
      updatedAt: row.renewed_at.toISOString(),
      ipAddress: row.address,
      userAgent: row.user_agent,
    });
    return Object.assign(new SessionResponse(), { session, user: UserResource.from(person) });
  }
}

export class SignOutResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  success: true;

  static done(): SignOutResponse {
    return Object.assign(new SignOutResponse(), { success: true });
  }
}
