import { ApiProperty } from '@nestjs/swagger';
import type { ValidSession } from '../../accounts/sessions/sessions.service.js';
import type { PersonRow } from '../people/people.repository.js';
import type { SignedInPerson } from '../people/people.service.js';

/** OpenAPI description of a session token. */
const SESSION_TOKEN = 'Names the session. Useless without the signature, which only the cookie has.';

class UserResource {
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

/** A session with a new token: after sign-up, and after a password change. */
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

  @ApiProperty({ type: 'string', nullable: true, description: 'The address of the sign-in; of IPv6, its /64 network.' })
  ipAddress: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  userAgent: string | null;
}

export class SessionResponse {
  @ApiProperty({ type: SessionResource })
  session: SessionResource;

  @ApiProperty({ type: UserResource })
  user: UserResource;

  static from({ row, token }: ValidSession, person: PersonRow): SessionResponse {
    const session = Object.assign(new SessionResource(), {
      id: row.id,
      token: token.reveal(),
      userId: row.identityId,
      expiresAt: row.expiresAt.toISOString(),
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.renewedAt.toISOString(),
      ipAddress: row.address,
      userAgent: row.userAgent,
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

export class SocialSignInResponse {
  @ApiProperty({ type: 'string', format: 'uri' })
  url: string;

  @ApiProperty({ type: 'boolean', description: 'False when `disableRedirect` was sent.' })
  redirect: boolean;

  static from(url: string, redirect: boolean): SocialSignInResponse {
    return Object.assign(new SocialSignInResponse(), { url, redirect });
  }
}

export class CapabilitiesResponse {
  @ApiProperty({ type: 'boolean', description: 'Whether accounts have plans.' })
  billing: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether anybody may register without an invitation.' })
  registrationOpen: boolean;

  @ApiProperty({
    type: 'boolean',
    description: 'Whether nobody has registered yet; the console then starts with the registration.',
  })
  awaitsFirstPerson: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether people can sign in with Google.' })
  googleAuth: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether browsers have passkeys at the address of the request.' })
  passkeys: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether providers of the type `simulated` can be created.' })
  simulatedProvider: boolean;

  @ApiProperty({
    type: 'string',
    format: 'uri',
    required: false,
    description:
      'The address for AI clients, whose access people approve on a page. Absent without `PUBLIC_URL`, or with ' +
      '`OAUTH_ENABLED=false`.',
  })
  mcpUrl?: string;

  @ApiProperty({ type: 'string', format: 'uri', required: false })
  termsOfServiceUrl?: string;

  @ApiProperty({ type: 'string', format: 'uri', required: false })
  privacyPolicyUrl?: string;

  static from(capabilities: CapabilitiesResponse): CapabilitiesResponse {
    return Object.assign(new CapabilitiesResponse(), capabilities);
  }
}
