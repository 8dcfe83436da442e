import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The permanent id of this deployment. */
@Injectable()
export class DeploymentIdRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @throws Error the migrations have not run. */
  async read(): Promise<string> {
    const [row] = await this.dataSource.query<{ id: string }[]>('SELECT id FROM deployment');
    if (row === undefined) throw new Error('The deployment has no id.');
    return row.id;
  }
}
