import { DataSource } from 'typeorm';
import { type KeptObject, KeptObjectsRepository } from '../../../../src/usage/recording/kept-objects.repository.js';

/** Owners in memory. */
export class FakeKeptObjects extends KeptObjectsRepository {
  readonly stored: KeptObject[] = [];
  /** Ids of each look-up. */
  readonly lookedUp: (readonly string[])[] = [];

  constructor() {
    const nothing = new DataSource({ type: 'postgres' });
    super(nothing, nothing);
  }

  override async store(objects: readonly KeptObject[]): Promise<void> {
    this.stored.push(...objects);
  }

  override async findOwners(appId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    this.lookedUp.push(ids);
    const found = this.stored.filter((object) => object.appId === appId && ids.includes(object.id));
    return new Map(found.map(({ id, userId }) => [id, userId]));
  }
}
