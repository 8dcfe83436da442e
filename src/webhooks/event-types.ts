import type { Type } from '@nestjs/common';
import {
  AuditedEventData,
  BudgetEventData,
  DeviceEventData,
  LimitEventData,
  ProviderEventData,
  RisingEventData,
} from './dto/event-data.js';

/** A type of event. */
export interface EventType {
  /** What happened, as a sentence. */
  readonly means: string;
  /** The class of its `data`. */
  readonly data: Type;
}

const audited = (means: string): EventType => ({ means, data: AuditedEventData });

/**
 * Every type of event that a webhook may choose: filters, `docs/event-types.md` and the OpenAPI document follow it.
 * Those of `AuditedEventData` are the actions of the audit trail. Extensions have further ones.
 */
export const EVENT_TYPES: Readonly<Record<string, EventType>> = {
  'app.created': audited('An application was created.'),
  'app.deleted': audited('An application was deleted.'),
  'app.replaced': audited('The configuration of an application was replaced.'),
  'app_key.created': audited('An application key was created.'),
  'app_key.revealed': audited('An application key was handed to a terminal.'),
  'app_key.revoked': audited('An application key was revoked.'),
  'budget.exhausted': {
    means: 'Spending, including estimates, reached a budget.',
    data: BudgetEventData,
  },
  'budget.threshold_reached': { means: 'Spending reached a threshold of a budget.', data: BudgetEventData },
  'cli_operation.denied': audited('A person denied the request of a terminal.'),
  'connection.created': audited('An OAuth client was connected.'),
  'connection.denied': audited('A person denied a connection to an OAuth client.'),
  'connection.revoked': audited('A connection of an OAuth client was ended.'),
  'device.revoked': { means: 'The gateway deleted a device key.', data: DeviceEventData },
  'invitation.accepted': audited('An invitation was accepted.'),
  'invitation.created': audited('A person was invited.'),
  'invitation.revoked': audited('An invitation was revoked.'),
  'limit.exhausted': {
    means:
      'A user, group or application was refused by a limit of requests or tokens for the first time in its window.',
    data: LimitEventData,
  },
  'management_key.created': audited('A management key was created.'),
  'management_key.revoked': audited('A management key was revoked.'),
  'mail.changed': audited('A member changed which events are mailed to them.'),
  'member.joined': audited('A person became a member.'),
  'member.removed': audited('A member left or was removed.'),
  'member.role_changed': audited('The role of a member was changed.'),
  'organization.claimed': audited('A person claimed the account.'),
  'organization.created': audited('An organization was created.'),
  'organization.renamed': audited('The organization was renamed.'),
  'passkey.created': audited('A member added a passkey.'),
  'passkey.removed': audited('A member removed a passkey.'),
  'password.changed': audited('A member changed their password.'),
  'password.reset': audited('A member set a new password by a reset link.'),
  'password_reset.created': audited('A reset link was created for a member.'),
  'play_credentials.deleted': audited('The Play Integrity credentials of an application were deleted.'),
  'play_credentials.replaced': audited('The Play Integrity credentials of an application were set.'),
  'provider.created': audited('A provider was added.'),
  'provider.deleted': audited('A provider was deleted.'),
  'provider.failing': {
    means: 'A provider refused its key, or at least half of 20 or more calls in 60 seconds failed.',
    data: ProviderEventData,
  },
  'provider.recovered': {
    means: 'A failing provider answered 20 calls in a row, or failed fewer than a tenth of its calls in 60 seconds.',
    data: ProviderEventData,
  },
  'provider.updated': audited('A provider was changed.'),
  'provider_gateway.created': audited('A provider gateway was added.'),
  'provider_gateway.deleted': audited('A provider gateway was deleted.'),
  'provider_gateway.renamed': audited('A provider gateway was renamed.'),
  'provider_gateway.rotated': audited('The token of a provider gateway was replaced.'),
  'recovery_code.used': audited('A member used a recovery code.'),
  'recovery_codes.replaced': audited('A member replaced their recovery codes.'),
  'session.ended': audited('Sessions of a member were ended.'),
  'session.opened': audited('A member signed in.'),
  'sign_in.refusals_rising': {
    means: 'In this hour an application refused more sign-ins than usual.',
    data: RisingEventData,
  },
  'usage.estimates_settled': audited('Estimated costs were settled.'),
  'usage.repriced': audited('Calls were repriced.'),
  'usage.unresolved_rising': {
    means: 'In this hour more calls of an application than usual ended without a known cost.',
    data: RisingEventData,
  },
  'user.blocked': audited('A user of an application was blocked.'),
  'user.unblocked': audited('A user of an application was unblocked.'),
  'webhook.created': audited('A webhook was created.'),
  'webhook.deleted': audited('A webhook was deleted.'),
  'webhook.rotated': audited('The secret of a webhook was replaced.'),
  'webhook.updated': audited('A webhook was changed.'),
};

/** The event of `POST /v1/admin/webhooks/{webhook}/test`; it cannot be subscribed to. */
export const TEST_EVENT = 'webhook.test';
