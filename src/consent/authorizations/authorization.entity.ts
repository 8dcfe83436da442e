import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Grant } from '../../accounts/access/admin-principal.js';
import { OrganizationEntity } from '../../accounts/access/organization.entity.js';
import type { TokenAudience } from '../../accounts/connections/oauth-token.rules.js';
import type { Instant } from '../../common/clock.js';
import type { ShownClient } from '../clients/client.rules.js';

/** A client's request for access. Its id is the hash of the code, which only the browser's proof can unseal. */
@Entity('oauth_authorizations')
@Check('oauth_authorizations_audience_check', "audience IN ('api', 'mcp')")
@Check('oauth_authorizations_grant_check', "requested_grant IN ('read', 'manage')")
@Check('oauth_authorizations_state_check', "state IN ('pending', 'completed', 'denied')")
@Index('oauth_authorizations_address_idx', ['address', 'expiresAt'])
@Index('oauth_authorizations_kept_idx', ['keptUntil'])
export class AuthorizationEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'oauth_authorizations_pkey' })
  id: string;

  /** A pending authorization past `expiresAt` counts as expired. */
  @Column({ type: 'text' })
  state: 'pending' | 'completed' | 'denied';

  /** The client as the person sees it. */
  @Column({ type: 'json' })
  client: ShownClient;

  @Column({ name: 'redirect_uri', type: 'text' })
  redirectUri: string;

  /** The client's own `state`, returned unchanged. */
  @Column({ name: 'client_state', type: 'text', nullable: true })
  clientState: string | null;

  @Column({ type: 'text' })
  audience: TokenAudience;

  @Column({ name: 'requested_grant', type: 'text' })
  requestedGrant: Grant;

  @Column({ name: 'code_challenge', type: 'text' })
  codeChallenge: string;

  @Column({ name: 'proof_hash', type: 'text' })
  proofHash: string;

  @Column({ name: 'sealed_code', type: 'text' })
  sealedCode: string;

  /** The requesting address. */
  @Column({ type: 'text' })
  address: string;

  /** The connection of a completed authorization. */
  @Column({ name: 'connection_id', type: 'text', nullable: true })
  connectionId: string | null;

  @Column({ name: 'organization_id', type: 'text', nullable: true })
  @ForeignKey(() => OrganizationEntity, { name: 'oauth_authorizations_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string | null;

  /** Who allowed it. */
  @Column({ name: 'identity_id', type: 'text', nullable: true })
  identityId: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  /** When the decision expires; once allowed, when the code expires. */
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;

  @Column({ name: 'code_used_at', type: 'timestamptz', nullable: true })
  codeUsedAt: Instant | null;

  @Column({ name: 'kept_until', type: 'timestamptz' })
  keptUntil: Instant;
}
