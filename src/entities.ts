import { AppEntity } from './app-directory/app.entity.js';
import { AppKeyEntity } from './app-keys/app-key.entity.js';
import { AuthChallengeEntity } from './attestation/auth-challenge.entity.js';
import { DeviceKeyEntity } from './attestation/device-key.entity.js';
import { PasswordEntity } from './console-auth/passwords/password.entity.js';
import { OpenidSubjectEntity } from './console-auth/third-party/openid-subject.entity.js';
import { CreationReceiptEntity } from './idempotency/creation-receipt.entity.js';
import { IdentityEntity } from './identity/identity.entity.js';
import { ManagementKeyEntity } from './identity/management-keys/management-key.entity.js';
import { MembershipEntity } from './identity/membership.entity.js';
import { OrganizationEntity } from './identity/organization.entity.js';
import { SessionEntity } from './identity/sessions/session.entity.js';
import { InvitationEntity } from './organizations/invitations/invitation.entity.js';
import { ProviderGatewayEntity } from './providers/gateways/provider-gateway.entity.js';
import { ProviderEntity } from './providers/provider.entity.js';
import { AppUserEntity } from './users/app-user.entity.js';

/** The tables of plain records. Tables of usage, budgets and limits are written by set-based SQL and have none. */
export const ENTITIES = [
  AppEntity,
  AppKeyEntity,
  AppUserEntity,
  AuthChallengeEntity,
  CreationReceiptEntity,
  DeviceKeyEntity,
  IdentityEntity,
  InvitationEntity,
  ManagementKeyEntity,
  MembershipEntity,
  OpenidSubjectEntity,
  OrganizationEntity,
  PasswordEntity,
  ProviderEntity,
  ProviderGatewayEntity,
  SessionEntity,
] as const;
