import type { World } from '../world.js';

interface StoredAuditEntry {
  readonly action: string;
  readonly actor_id: string;
  readonly target_id: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The trail of an account, oldest first. */
export async function auditEntries({ dataSource }: World, organizationId: string): Promise<StoredAuditEntry[]> {
  return dataSource.query(
    'SELECT action, actor_id, target_id, details FROM audit_events WHERE organization_id = $1 ORDER BY id',
    [organizationId],
  );
}
