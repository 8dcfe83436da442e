import type { ActionSource, AdminPrincipal } from '../admin-principal.js';

/** Who did something in an account, and through which credential; none where nobody has one yet. */
export interface AuditActor extends Pick<AdminPrincipal, 'organizationId' | 'credentialType' | 'actor'> {
  readonly credentialId: string | null;
}

/** A person who acts through a session of the console. */
export interface ActingPerson {
  readonly identityId: string;
  readonly sessionId: string;
}

/** A person, as whoever asks who they are is told. */
export function actorOf({ identityId, sessionId }: ActingPerson): AdminPrincipal['actor'] {
  return { type: 'user', id: identityId, kind: 'human', credentialId: sessionId, actionSource: 'web' };
}

/** A person, as the trail of one of their organizations names them. */
export function personActor(organizationId: string, person: ActingPerson): AuditActor {
  return { organizationId, credentialType: 'session', credentialId: person.sessionId, actor: actorOf(person) };
}

/**
 * A service identity that comes into being with its account, before it has a credential.
 *
 * @param actionSource through which door it came.
 */
export function newServiceActor(organizationId: string, identityId: string, actionSource: ActionSource): AuditActor {
  return {
    organizationId,
    credentialType: 'apiKey',
    credentialId: null,
    actor: { type: 'user', id: identityId, kind: 'service', credentialId: null, actionSource },
  };
}
