import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { OrganizationEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';
import type {
  OperationFailure,
  OperationKind,
  OperationPayload,
  OperationResult,
  OperationSource,
  TerminalClient,
} from './operation.rules.js';

/** An operation of a terminal or AI client. Secrets are hashes or sealed; its token is neither stored nor derivable. */
@Entity('cli_operations')
@Check(
  'cli_operations_kind_check',
  "kind IN ('bootstrap', 'login', 'claim', 'app.add', 'app.key.add', 'provider.add', 'provider.update', 'provider.rotate-key', 'provider-gateway.add', 'provider-gateway.rotate-key')",
)
@Check('cli_operations_source_check', "action_source IN ('cli', 'mcp')")
@Check('cli_operations_state_check', "state IN ('pending', 'completed', 'denied')")
@Index('cli_operations_address_idx', ['address', 'expiresAt'])
@Index('cli_operations_kept_idx', ['keptUntil'])
@Index('cli_operations_organization_idx', ['organizationId', 'createdAt'])
@Index('cli_operations_sealed_idx', ['sealedUntil'], { where: 'sealed_result IS NOT NULL' })
@Index('cli_operations_user_code_key', ['userCodeMac'], { unique: true, where: "state = 'pending'" })
export class OperationEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'cli_operations_pkey' })
  id: string;

  @Column({ type: 'text' })
  kind: OperationKind;

  /** A pending operation past `expiresAt` counts as expired. */
  @Column({ type: 'text' })
  state: 'pending' | 'completed' | 'denied';

  @Column({ name: 'action_source', type: 'text', default: 'cli' })
  actionSource: OperationSource;

  /** The account; null until a login is approved. */
  @Column({ name: 'organization_id', type: 'text', nullable: true })
  @ForeignKey(() => OrganizationEntity, { name: 'cli_operations_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string | null;

  /** The sender; of a login, the approver. */
  @Column({ name: 'identity_id', type: 'text', nullable: true })
  identityId: string | null;

  /** The credential of the sender; of a login or bootstrap, the key that it created. */
  @Column({ name: 'credential_id', type: 'text', nullable: true })
  credentialId: string | null;

  @Column({ type: 'text', nullable: true })
  address: string | null;

  @Column({ type: 'json', nullable: true })
  client: TerminalClient | null;

  /** The request without its secret. */
  @Column({ type: 'json', nullable: true })
  payload: OperationPayload | null;

  @Column({ name: 'request_hash', type: 'text', nullable: true })
  requestHash: string | null;

  @Column({ name: 'proof_hash', type: 'text', nullable: true })
  proofHash: string | null;

  @Column({ name: 'user_code_mac', type: 'text', nullable: true })
  userCodeMac: string | null;

  @Column({ name: 'sealed_user_code', type: 'text', nullable: true })
  sealedUserCode: string | null;

  @Column({ name: 'loopback_redirect', type: 'text', nullable: true })
  loopbackRedirect: string | null;

  @Column({ name: 'redeem_code_hash', type: 'text', nullable: true })
  redeemCodeHash: string | null;

  @Column({ type: 'json', nullable: true })
  result: OperationResult | null;

  /** Why the last step that a person tried was refused; null once one succeeds. */
  @Column({ type: 'json', nullable: true })
  failure: OperationFailure | null;

  @Column({ name: 'sealed_result', type: 'text', nullable: true })
  sealedResult: string | null;

  @Column({ name: 'sealed_until', type: 'timestamptz', nullable: true })
  sealedUntil: Instant | null;

  @Column({ name: 'delivered_at', type: 'timestamptz', nullable: true })
  deliveredAt: Instant | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;

  @Column({ name: 'kept_until', type: 'timestamptz' })
  keptUntil: Instant;
}
