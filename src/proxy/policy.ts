import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import type { Ready } from '../common/when-ready.js';
import { PriceBook } from '../pricing/price-book.js';
import { capStyleFor } from '../upstreams/cap-style.rules.js';
import { UsageResponses } from '../usage/usage-responses.service.js';
import type { AdmittedRequest } from './admitted-request.js';
import { judgeReferences } from './body/forbidden-members.rules.js';
import { applyEdits, type JsonEdit, setMember } from './body/json-edit.js';
import { JsonScan, SCAN_STEP_BYTES } from './body/json-scan.js';
import { REQUEST_NAMES } from './body/judged-names.js';
import { findFormField, readForm, rebuildForm } from './body/multipart-form.js';
import { capEdits } from './body/output-cap.rules.js';
import { readRequestFacts } from './body/request-facts.rules.js';
import { usageEdits } from './body/stream-usage.rules.js';
import { judgeTranscriptionFormat } from './body/transcription-format.rules.js';
import { chooseModel, type ModelChoice } from './model-choice.rules.js';
import type { ProxyPlan } from './plan.js';

const MULTIPART = 'multipart/form-data';
const BOUNDARY_CHARACTERS = 40;

/** Judges a body against the plan and makes of it what is sent: one decision, on the bytes that leave (threats 3.1). */
@Injectable()
export class ProxyPolicy {
  constructor(
    private readonly prices: PriceBook,
    private readonly responses: UsageResponses,
    private readonly ids: Ids,
  ) {}

  /**
   * @param contentType the request's header, empty when absent.
   * @throws invalid_request, model_not_allowed, pricing_not_configured, max_output_tokens_exceeded.
   * Source: contract-app 6.3, steps 7 to 9.
   */
  admit(caller: Caller, plan: ProxyPlan, body: Buffer, contentType: string): Ready<AdmittedRequest> {
    return contentType.slice(0, MULTIPART.length).toLowerCase() === MULTIPART
      ? this.admitForm(caller, plan, body, contentType)
      : this.admitJson(caller, plan, body);
  }

  /** A body beyond one step is read in several turns, so that no request holds the event loop (threats 10.7). */
  private admitJson(caller: Caller, plan: ProxyPlan, body: Buffer): Ready<AdmittedRequest> {
    if (plan.style === 'audio_transcription') {
      judgeTranscriptionFormat({ type: plan.provider.type, isForm: false, format: undefined });
    }
    const scan = new JsonScan(body, REQUEST_NAMES);
    const judge = () => this.judgeJson(caller, plan, scan);
    return scan.step(SCAN_STEP_BYTES) ? judge() : scanToEnd(scan).then(judge);
  }

  private judgeJson(caller: Caller, plan: ProxyPlan, scan: JsonScan): Ready<AdmittedRequest> {
    const { provider, style, access } = plan;
    const facts = readRequestFacts(scan);
    const { hostedTools, ownedResponseId } = judgeReferences(scan, style);
    const model = chooseModel(plan, caller.app, facts.model, this.prices);
    const edits: JsonEdit[] = [];
    if (model.source === 'body' && model.canonical !== model.requested) {
      edits.push(setMember(scan.root, 'model', JSON.stringify(model.canonical)));
    }
    edits.push(
      ...capEdits(scan, {
        style: capStyleFor(provider.dialect, style, plan.match.entry.clamp, plan.path),
        cap: access.maxOutputTokens,
        chatField: provider.dialect.capFieldForChat,
      }),
    );
    const usage = usageEdits(scan, facts, style);
    edits.push(...usage.edits);
    const admitted: AdmittedRequest = {
      model,
      path: pathFor(plan, model),
      body: edits.length === 0 ? scan.bytes : applyEdits(scan.bytes, edits),
      withholdUsageChunk: usage.withholdUsageChunk,
      hostedTools,
    };
    if (ownedResponseId === undefined) return admitted;
    return this.requireOwnResponse(caller, ownedResponseId).then(() => admitted);
  }

  private async admitForm(
    caller: Caller,
    plan: ProxyPlan,
    body: Buffer,
    contentType: string,
  ): Promise<AdmittedRequest> {
    const parts = await readForm(body, contentType);
    const model = chooseModel(plan, caller.app, findFormField(parts, 'model'), this.prices);
    const changes = new Map<string, string>();
    if (model.source === 'body' && model.canonical !== model.requested) changes.set('model', model.canonical);
    if (plan.style === 'audio_transcription') {
      const format = findFormField(parts, 'response_format');
      const { set } = judgeTranscriptionFormat({ type: plan.provider.type, isForm: true, format });
      if (set !== undefined) changes.set('response_format', set);
    }
    const unchanged = { body, contentType };
    return {
      model,
      path: pathFor(plan, model),
      ...(changes.size === 0 ? unchanged : this.rebuilt(parts, changes)),
      withholdUsageChunk: false,
      hostedTools: [],
    };
  }

  private rebuilt(parts: Parameters<typeof rebuildForm>[0], changes: ReadonlyMap<string, string>) {
    const boundary = this.ids.base62(BOUNDARY_CHARACTERS);
    const { pieces, bytes } = rebuildForm(parts, changes, boundary);
    return { body: Buffer.concat(pieces, bytes), contentType: `${MULTIPART}; boundary=${boundary}` };
  }

  /** A stored response may be continued by those who created it (decision 3.6). */
  private async requireOwnResponse({ app, userId }: Caller, responseId: string): Promise<void> {
    if (await this.responses.createdBy(app.id, userId, responseId)) return;
    throw invalidRequest(
      'previous_response_id',
      'names no response that this application and user created through the gateway',
      'response_not_owned',
    );
  }
}

async function scanToEnd(scan: JsonScan): Promise<void> {
  do await nextTurn();
  while (!scan.step(SCAN_STEP_BYTES));
}

/** Path and query as sent upstream; a rewritten model goes back to where it came from. */
function pathFor({ match, path, query }: ProxyPlan, model: ModelChoice): string {
  const suffix = query === '' ? '' : `?${query}`;
  if (model.source !== 'path' || model.canonical === model.requested) return path + suffix;
  return match.entry.path.replace('{model}', () => encodeURIComponent(model.canonical)) + suffix;
}
