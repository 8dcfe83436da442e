/** The members of an entry that its sentence uses. */
interface Entry {
  readonly action: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

const SENTENCES: Readonly<Record<string, string>> = {
  'app.created': 'Created application',
  'app.replaced': 'Changed application',
  'app.deleted': 'Deleted application',
  'app_key.created': 'Created application key',
  'app_key.revealed': 'Revealed the new application key',
  'app_key.revoked': 'Revoked application key',
  'play_credentials.replaced': 'Set the Play Integrity credentials of application',
  'play_credentials.deleted': 'Deleted the Play Integrity credentials of application',
  'provider.created': 'Added provider',
  'provider.updated': 'Changed provider',
  'provider.deleted': 'Deleted provider',
  'provider_gateway.created': 'Added upstream gateway',
  'provider_gateway.renamed': 'Renamed upstream gateway',
  'provider_gateway.rotated': 'Rotated the token of upstream gateway',
  'provider_gateway.deleted': 'Deleted upstream gateway',
  'user.blocked': 'Blocked user',
  'user.unblocked': 'Unblocked user',
  'usage.repriced': 'Repriced usage',
  'usage.estimates_settled': 'Settled estimated costs',
  'organization.created': 'Created organization',
  'organization.renamed': 'Renamed organization',
  'organization.claimed': 'Claimed organization',
  'member.joined': 'Joined the organization',
  'member.role_changed': 'Changed the role of a member',
  'member.removed': 'Removed a member',
  'invitation.created': 'Invited',
  'invitation.accepted': 'Accepted an invitation',
  'invitation.revoked': 'Revoked an invitation',
  'management_key.created': 'Created management key',
  'management_key.revoked': 'Revoked management key',
  'connection.created': 'Gave an AI client access',
  'connection.denied': 'Declined an AI client',
  'connection.revoked': 'Ended the connection of an AI client',
  'cli_operation.denied': 'Declined the request of a terminal',
  'session.opened': 'Signed in',
  'session.ended': 'Signed out',
  'password.changed': 'Changed the password',
  'password.reset': 'Set a new password with a link',
  'password_reset.created': 'Made a link for a new password of a member',
  'recovery_codes.replaced': 'Replaced the recovery codes',
  'recovery_code.used': 'Set a new password with a recovery code',
  'passkey.created': 'Added passkey',
  'passkey.removed': 'Removed passkey',
  'mail.changed': 'Changed their mail settings',
  'webhook.created': 'Added webhook',
  'webhook.updated': 'Changed webhook',
  'webhook.rotated': 'Rotated the secret of webhook',
  'webhook.deleted': 'Deleted webhook',
};

/** The description of an action; for an unknown one its name. */
export function actionText(action: string): string {
  return (Object.hasOwn(SENTENCES, action) ? SENTENCES[action] : undefined) ?? action;
}

/** An entry of the audit trail in words; an action that is not known here by its own name. */
export function sentenceOf({ action, details }: Entry): string {
  const sentence = actionText(action);
  const named = nameIn(details);
  return named === undefined ? sentence : `${sentence} “${named.name}”`;
}

/** What the subject of an entry is called, and the member of the details that says so. */
export function nameIn(details: Entry['details']): { readonly member: string; readonly name: string } | undefined {
  for (const member of ['name', 'slug']) {
    const name = details?.[member];
    if (typeof name === 'string') return { member, name };
  }
  return undefined;
}
