/** Request limits of one scope; null is unlimited. */
export interface RequestCounts {
  /** Per clock minute. */
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** Input of the request limits. */
export interface LimitedCall {
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string | null;
  /** Limits of the calling user; undefined without limits or without a user. */
  readonly user: RequestCounts | undefined;
  /** Limits of the application; undefined without limits. */
  readonly app: RequestCounts | undefined;
}
