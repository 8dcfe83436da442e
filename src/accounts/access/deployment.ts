import { Injectable } from '@nestjs/common';
import { Check, Column, DataSource, Entity, type EntityManager, PrimaryColumn } from 'typeorm';
import { ConsoleOrigin } from '../csrf/csrf-origins.js';
import { OrganizationEntity } from './organization.entity.js';

/** The one row that names this deployment, for as long as its database exists. */
@Entity('deployment')
@Check('deployment_singleton_check', 'singleton')
export class DeploymentEntity {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'deployment_pkey' })
  singleton: boolean;

  @Column({ type: 'text' })
  id: string;
}

/** The deployment as terminals know it. Source: docs/reference/management-api.md#terminal-login. */
export interface DeploymentFacts {
  /** A UUID that never changes: links and codes of terminals, and the id of the first account, are derived from it. */
  readonly id: string;
  readonly mode: 'self_hosted';
  readonly apiUrl: string;
  readonly consoleOrigin: string;
}

/** Reads the identity of this deployment once. */
@Injectable()
export class Deployment {
  #facts: DeploymentFacts | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly origin: ConsoleOrigin,
  ) {}

  /** The account that was opened first, whose owners run the deployment; undefined without one. */
  async firstOrganizationId(): Promise<string | undefined> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    const [first] = await this.dataSource.manager.find(OrganizationEntity, { select: { id: true }, order, take: 1 });
    return first?.id;
  }

  /** @param within of a transaction that runs, which must not ask for a second database connection. */
  async facts(within: EntityManager = this.dataSource.manager): Promise<DeploymentFacts> {
    if (this.#facts !== undefined) return this.#facts;
    const { id } = await within.findOneByOrFail(DeploymentEntity, { singleton: true });
    const { url } = this.origin;
    this.#facts = { id, mode: 'self_hosted', apiUrl: url, consoleOrigin: url };
    return this.#facts;
  }
}
