import { Int } from '../../../common/fields/fields.js';

/** Where to resume. */
export class ReadStreamRequest {
  /** Number of bytes that the client has received. */
  @Int({ optional: true, min: 0, max: Number.MAX_SAFE_INTEGER })
  readonly offset?: number;
}

/** What another instance lacks. */
export class ReadFromInstanceRequest {
  /** The first byte that it lacks. */
  @Int({ min: 0, max: Number.MAX_SAFE_INTEGER })
  readonly from: number;
}
