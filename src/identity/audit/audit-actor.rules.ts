import type { ActionSource, AdminPrincipal } from '../admin-principal.js';

/** The actor of an action in an account and its credential. `credentialId` is null when no credential exists yet. */
export interface AuditActor extends Pick<AdminPrincipal, 'organizationId' | 'credentialType' | 'actor'> {
  readonly credentialId: string | null;
}

/** A person that acts through a console session. */
export interface ActingPerson {
  readonly identityId: string;
  readonly sessionId: string;
}

/** A person as the actor of an action. */
export function actorOf({ identityId, sessionId }: ActingPerson): AdminPrincipal['actor'] {
  return { type: 'user', id: identityId, kind: 'human', credentialId: sessionId, actionSource: 'web' };
}

/** A person as the actor in the audit trail of one organization. */
export function personActor(organizationId: string, person: ActingPerson): AuditActor {
  return { organizationId, credentialType: 'session', credentialId: person.sessionId, actor: actorOf(person) };
}

/**
 * A service identity that is created with its account, before it has a credential.
 *
 * @param actionSource the kind of client that created it.
 */
export function newServiceActor(organizationId: string, identityId: string, actionSource: ActionSource): AuditActor {
  return {
    organizationId,
    credentialType: 'apiKey',
    credentialId: null,
    actor: { type: 'user', id: identityId, kind: 'service', credentialId: null, actionSource },
  };
}
