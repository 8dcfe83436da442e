import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DataSource } from 'typeorm';
import { requireAdmin } from '../../src/accounts/access/admin-principal.js';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { unlistedReason } from '../../src/common/errors/reasons.js';

/** Reads identities. */
@Injectable()
export class StaffRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The verified e-mail address of an identity; null without one. */
  async findVerifiedEmail(identityId: string): Promise<string | null> {
    const sql = 'SELECT email FROM identities WHERE id = $1 AND email_verified';
    const [row] = await this.dataSource.query<{ email: string | null }[]>(sql, [identityId]);
    return row?.email ?? null;
  }
}

/** Admits people of the company. An unverified address proves nothing: anyone can enter it. */
@Injectable()
export class StaffGuard implements CanActivate {
  constructor(private readonly staff: StaffRepository) {}

  /** @throws forbidden */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { identityId } = requireAdmin(context.switchToHttp().getRequest<FastifyRequest>());
    const email = await this.staff.findVerifiedEmail(identityId);
    if (email?.toLowerCase().endsWith('@acme.example')) return true;
    const reason = unlistedReason('not_staff');
    throw new GatewayError('forbidden', { message: 'Only people of Acme may read this.', reason });
  }
}
