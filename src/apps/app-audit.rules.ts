import { type AuditedChange, auditedChanges } from '../accounts/audit/audited-changes.rules.js';
import type { AppRow } from '../app-directory/app.entity.js';

/**
 * The members of an application whose values are recorded in the audit trail. A member that can hold a secret, a prompt
 * or an address with credentials is not among them.
 */
const AUDITED = [
  ...['name', 'handle', 'status', 'limits.**', 'allowed_origins', 'streams.*'],
  ...['authentication.type', 'authentication.end_user.source', 'authentication.end_user.header'],
  ...['authentication.app_attest.team_id', 'authentication.app_attest.bundle_id'],
  ...['authentication.app_attest.environments', 'authentication.proofs.**'],
  ...['routing.providers.mode', 'routing.model_rewrites.*', 'routing.providers.selected.*.allowed_models'],
  ...['routing.providers.selected.*.allowed_paths.**', 'routing.providers.selected.*.max_output_tokens'],
  ...['endpoints.*.api_style', 'endpoints.*.provider', 'endpoints.*.model', 'endpoints.*.max_output_tokens'],
  'endpoints.*.streams.*',
  ...['endpoints.*.fallback.*.provider', 'endpoints.*.fallback.*.model'],
];

/** What a replacement changed. */
export function appChanges(before: AppRow, after: AppRow): readonly AuditedChange[] {
  return auditedChanges(auditedOf(before), auditedOf(after), AUDITED);
}

function auditedOf({ name, handle, status, config }: AppRow): object {
  return { ...(config as object), name, handle, status };
}
