import { DeploymentEntity } from './accounts/access/deployment.js';
import { IdentityEntity, MembershipEntity, OrganizationEntity } from './accounts/access/organization.entity.js';
import { AuditEventEntity } from './accounts/audit/audit-event.entity.js';
import { OAuthTokenEntity } from './accounts/connections/oauth-token.entity.js';
import { ManagementKeyEntity } from './accounts/management-keys/management-key.entity.js';
import { InvitationEntity } from './accounts/organizations/invitations/invitation.entity.js';
import { SessionEntity } from './accounts/sessions/session.entity.js';
import { AppEntity } from './app-directory/app.entity.js';
import { AppKeyEntity } from './app-keys/app-key.entity.js';
import { OperationEntity } from './cli/operations/operation.entity.js';
import { AuthChallengeEntity, DeviceKeyEntity } from './client-auth/devices/attestation.entity.js';
import { PlayCredentialEntity } from './client-auth/devices/play/play-credential.entity.js';
import { AuthorizationEntity } from './consent/authorizations/authorization.entity.js';
import { IdempotencyRecordEntity } from './idempotency/idempotency-record.entity.js';
import { ProviderHealthEntity } from './providers/health/provider-health.entity.js';
import { ProviderEntity } from './providers/provider.entity.js';
import { ProviderGatewayEntity } from './providers/provider-gateways/provider-gateway.entity.js';
import { OpenidSubjectEntity, PasswordEntity } from './sign-in/credential.entity.js';
import { PasskeyChallengeEntity, PasskeyEntity } from './sign-in/passkeys/passkey.entity.js';
import { PasswordResetEntity, RecoveryCodeEntity } from './sign-in/recovery/recovery.entity.js';
import { AppUserEntity } from './users/app-user.entity.js';
import { WebhookEntity } from './webhooks/webhook.entity.js';

/** The tables of plain records. Tables of usage, budgets and limits are written by set-based SQL and have none. */
export const ENTITIES = [
  AppEntity,
  AppKeyEntity,
  AppUserEntity,
  AuditEventEntity,
  AuthorizationEntity,
  AuthChallengeEntity,
  IdempotencyRecordEntity,
  DeploymentEntity,
  DeviceKeyEntity,
  PlayCredentialEntity,
  IdentityEntity,
  InvitationEntity,
  ManagementKeyEntity,
  MembershipEntity,
  OAuthTokenEntity,
  OpenidSubjectEntity,
  OperationEntity,
  OrganizationEntity,
  PasskeyChallengeEntity,
  PasskeyEntity,
  PasswordEntity,
  PasswordResetEntity,
  ProviderEntity,
  ProviderGatewayEntity,
  ProviderHealthEntity,
  RecoveryCodeEntity,
  SessionEntity,
  WebhookEntity,
] as const;
