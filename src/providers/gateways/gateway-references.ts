/** How many providers are routed through one gateway, by their status. */
export interface GatewayUse {
  readonly active: number;
  readonly disabled: number;
}

/** What no provider refers to. */
export const NOT_USED: GatewayUse = { active: 0, disabled: 0 };

/**
 * What this room must know of providers. A port, because the room of providers stands on this one: it implements it.
 */
export abstract class GatewayReferences {
  /** Use of every gateway of the account that has any; the others are absent. */
  abstract useByGateway(organizationId: string): Promise<ReadonlyMap<string, GatewayUse>>;
}
