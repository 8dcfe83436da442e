import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const TELL = 'UPDATE gateway_instances SET open_calls = $2 WHERE id = $1';

/** Writes `gateway_instances.open_calls`. */
@Injectable()
export class OpenCallsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async tell(instanceId: string, openCalls: number): Promise<void> {
    await this.dataSource.query(TELL, [instanceId, openCalls]);
  }
}
