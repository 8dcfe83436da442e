import type { SentUsage } from '../pricing/estimated-cost.rules.js';
import type { UsageBounds } from '../pricing/worst-cost.rules.js';
import type { RebuiltForm } from './forms/multipart-form.js';
import type { ModelChoice } from './model-choice.rules.js';

/** The largest body that is taken. Source: docs/reference/application-api.md#order-of-checks; 7.1. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** What may really be sent, after every check; nothing of it is looked at again. */
export interface AdmittedRequest {
  readonly model: ModelChoice;
  /** Below the base URL of the way to the provider, with query; the model written back where it changed. */
  readonly path: string;
  /** Absent where the method has none. */
  readonly body: Buffer | RebuiltForm | undefined;
  /** The provider does this for nothing, so its answer is not searched for usage. Absent: it does not. */
  readonly isFree?: boolean;
  /** The form's content type; absent for JSON. */
  readonly contentType?: string | undefined;
  /** We asked for usage that the client did not ask for: it must not see it. */
  readonly withholdUsageChunk: boolean;
  /** Tools the provider runs itself and may charge for. */
  readonly hostedTools: readonly string[];
  /** The most the request can use, whichever target serves it. */
  readonly bounds: UsageBounds;
  /** What of that it is taken to send. */
  readonly sent: SentUsage;
}
