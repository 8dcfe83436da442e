import { ApiProperty } from '@nestjs/swagger';
import type { PersonRow } from '../people/people.repository.js';
import type { SignedInPerson } from '../people/registration.service.js';

/** OpenAPI description of a session token. */
export const SESSION_TOKEN = 'Names the session. It opens nothing without the signature that only the cookie has.';

export class UserResource {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string' })
  email: string;

  @ApiProperty({ type: 'boolean' })
  emailVerified: boolean;

  @ApiProperty({ type: 'string', nullable: true })
  image: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updatedAt: string;

  static from({ id, name, email, emailVerified, image, createdAt, updatedAt }: PersonRow): UserResource {
    return Object.assign(new UserResource(), {
      id,
      name,
      email,
      emailVerified,
      image,
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    });
  }
}

/** A session with a new token: after registration, and after a password change. */
export class SessionBegunResponse {
  @ApiProperty({ type: 'string', description: SESSION_TOKEN })
  token: string;

  @ApiProperty({ type: UserResource })
  user: UserResource;

  static from({ person, session }: SignedInPerson): SessionBegunResponse {
    return Object.assign(new SessionBegunResponse(), {
      token: session.token.reveal(),
      user: UserResource.from(person),
    });
  }
}

export class SignInResponse {
  @ApiProperty({ type: 'boolean', enum: [false] })
  redirect: false;

  @ApiProperty({ type: 'string', description: SESSION_TOKEN })
  token: string;

  @ApiProperty({ type: UserResource })
  user: UserResource;

  static from(signedIn: SignedInPerson): SignInResponse {
    return Object.assign(new SignInResponse(), { redirect: false, ...SessionBegunResponse.from(signedIn) });
  }
}

export class UpdateUserResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  status: true;

  @ApiProperty({ type: UserResource })
  user: UserResource;

  static from(person: PersonRow): UpdateUserResponse {
    return Object.assign(new UpdateUserResponse(), { status: true, user: UserResource.from(person) });
  }
}
