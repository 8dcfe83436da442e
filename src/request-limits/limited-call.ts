/** How many requests one scope may make; null is without limit. */
export interface RequestCounts {
  /** In each minute of the clock. */
  readonly perMinute: number | null;
  /** On each UTC day. */
  readonly perDay: number | null;
}

/** A call as request limits see it. */
export interface LimitedCall {
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string | null;
  /** Of the calling user; undefined where nothing is limited or the call belongs to nobody. */
  readonly user: RequestCounts | undefined;
  /** Of the application; undefined where nothing is limited. */
  readonly app: RequestCounts | undefined;
}
