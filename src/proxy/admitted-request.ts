import type { ModelChoice } from './model-choice.rules.js';

/** What may really be sent, after every check; nothing of it is looked at again. */
export interface AdmittedRequest {
  readonly model: ModelChoice;
  /** Below the base URL, with query; the model written back where it changed. */
  readonly path: string;
  readonly body: Buffer;
  /** The form's content type; absent for JSON. */
  readonly contentType?: string;
  /** We asked for usage that the client did not ask for: it must not see it. */
  readonly withholdUsageChunk: boolean;
  /** Tools the provider runs itself and may charge for. */
  readonly hostedTools: readonly string[];
}
