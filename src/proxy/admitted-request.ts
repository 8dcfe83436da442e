import type { SentUsage, UsageBounds } from '../pricing/max-cost.rules.js';
import type { RebuiltForm } from './forms/multipart-form.js';
import type { ModelChoice } from './model-choice.rules.js';

/** Maximum size of a request body. Source: docs/reference/application-api.md#order-of-checks. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** The request to send, after every check; it is not validated again. */
export interface AdmittedRequest {
  readonly model: ModelChoice;
  /** Below the base URL of the route, with query; contains the rewritten model where it changed. */
  readonly path: string;
  /** Absent where the method has no body. */
  readonly body: Buffer | RebuiltForm | undefined;
  /** The provider serves this path for free, so its answer is not read for usage. Default false. */
  readonly isFree?: boolean;
  /** The provider keeps objects that the answer names. Default false. */
  readonly keeps?: boolean;
  /** The form's content type; absent for JSON. */
  readonly contentType?: string | undefined;
  /** The gateway requested usage that the client did not request; the client must not receive it. */
  readonly withholdUsageChunk: boolean;
  /** Tools that the provider runs and may charge for. */
  readonly hostedTools: readonly string[];
  /** Maximum usage of the request at its target. */
  readonly bounds: UsageBounds;
  /** Estimate of what the request sends, within `bounds`. */
  readonly sent: SentUsage;
}
