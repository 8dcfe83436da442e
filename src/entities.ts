import { AppEntity } from './app-directory/app.entity.js';
import { AppKeyEntity } from './app-keys/app-key.entity.js';
import { AuthChallengeEntity, DeviceKeyEntity } from './attestation/attestation.entity.js';
import { OperationEntity } from './cli/operations/operation.entity.js';
import { AuthorizationEntity } from './consent/authorizations/authorization.entity.js';
import { OpenidSubjectEntity, PasswordEntity } from './console-auth/credential.entity.js';
import { CreationReceiptEntity } from './idempotency/creation-receipt.entity.js';
import { AuditEventEntity } from './identity/audit/audit-event.entity.js';
import { OAuthTokenEntity } from './identity/connections/oauth-token.entity.js';
import { DeploymentEntity } from './identity/deployment.js';
import { ManagementKeyEntity } from './identity/management-keys/management-key.entity.js';
import { IdentityEntity, MembershipEntity, OrganizationEntity } from './identity/organization.entity.js';
import { SessionEntity } from './identity/sessions/session.entity.js';
import { InvitationEntity } from './organizations/invitations/invitation.entity.js';
import { ProviderEntity } from './providers/provider.entity.js';
import { ProviderGatewayEntity } from './providers/provider-gateways/provider-gateway.entity.js';
import { AppUserEntity } from './users/app-user.entity.js';

/** The tables of plain records. Tables of usage, budgets and limits are written by set-based SQL and have none. */
export const ENTITIES = [
  AppEntity,
  AppKeyEntity,
  AppUserEntity,
  AuditEventEntity,
  AuthorizationEntity,
  AuthChallengeEntity,
  CreationReceiptEntity,
  DeploymentEntity,
  DeviceKeyEntity,
  IdentityEntity,
  InvitationEntity,
  ManagementKeyEntity,
  MembershipEntity,
  OAuthTokenEntity,
  OpenidSubjectEntity,
  OperationEntity,
  OrganizationEntity,
  PasswordEntity,
  ProviderEntity,
  ProviderGatewayEntity,
  SessionEntity,
] as const;
