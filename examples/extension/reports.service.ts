import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../../src/accounts/access/admin-principal.js';
import { AuditTrail } from '../../src/accounts/audit/audit-trail.js';

/** Reads applications. Every statement filters by account. */
@Injectable()
export class ReportsRepository {
  async countApps(within: Pick<EntityManager, 'query'>, organizationId: string): Promise<number> {
    const sql = 'SELECT count(*)::int AS apps FROM apps WHERE organization_id = $1';
    const [row] = await within.query<{ apps: number }[]>(sql, [organizationId]);
    return row?.apps ?? 0;
  }
}

@Injectable()
export class ReportsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly reports: ReportsRepository,
    private readonly audit: AuditTrail,
  ) {}

  countApps({ organizationId }: AdminPrincipal): Promise<number> {
    return this.reports.countApps(this.dataSource, organizationId);
  }

  /** Exports only if the audit trail gets its entry. */
  exportApps(admin: AdminPrincipal): Promise<number> {
    return this.dataSource.transaction(async (tx) => {
      const apps = await this.reports.countApps(tx, admin.organizationId);
      const details = { apps };
      await this.audit.record(tx, admin, {
        action: 'report.exported',
        targetType: 'report',
        targetId: 'apps',
        details,
      });
      return apps;
    });
  }
}
