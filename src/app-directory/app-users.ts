import type { EntityManager } from 'typeorm';
import type { AppRef } from './app-row.js';

/** How many users of an application are known, and how many of them are blocked. */
export interface UserCounts {
  readonly total: number;
  readonly blocked: number;
}

/** What is known of an application that never had any. */
export const NO_USERS: UserCounts = { total: 0, blocked: 0 };

/**
 * What the rooms of applications must know of users. A port, because neither may import the other: the room of users
 * implements it.
 */
export abstract class AppUsers {
  /** Users of the applications named, those known from usage only included; one that never had any is absent. */
  abstract countsByApp(organizationId: string, appIds: readonly string[]): Promise<ReadonlyMap<string, UserCounts>>;

  /** Users stored for an application, as a transaction sees them: those that are deleted with it. */
  abstract countOf(tx: EntityManager, app: AppRef): Promise<number>;
}
