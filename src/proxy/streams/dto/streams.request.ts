import { Int } from '../../../common/fields/fields.js';

/** Where to read on. */
export class ReadStreamRequest {
  /** Bytes of the answer that the client has. */
  @Int({ optional: true, min: 0, max: Number.MAX_SAFE_INTEGER })
  readonly offset?: number;
}
