import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { Ids } from '../common/ids.js';
import { type Ready, whenReady } from '../common/when-ready.js';
import { PriceBook } from '../pricing/price-book.js';
import { capStyleFor } from '../upstreams/cap-style.rules.js';
import { boundsOfForm, boundsOfJson } from './admission/worst-usage.rules.js';
import type { AdmittedRequest } from './admitted-request.js';
import { judgeCosts, judgeStoredObjects, readOwnedResponse } from './body/forbidden-members.rules.js';
import { gatewayOptionEdits } from './body/gateway-options.rules.js';
import { judgeModelAlternatives } from './body/model-alternatives.rules.js';
import { judgeOutput } from './body/output-cap.rules.js';
import { readRequestFacts } from './body/request-facts.rules.js';
import { usageEdits } from './body/stream-usage.rules.js';
import { formBoundary, formType, isFormType } from './forms/form-type.rules.js';
import { findFormField, readForm, rebuildForm } from './forms/multipart-form.js';
import { judgeTranscriptionFormat } from './forms/transcription-format.rules.js';
import { scanBody } from './json/body-steps.js';
import { applyEdits, type JsonEdit, setMember } from './json/json-edit.js';
import type { ScannedBody } from './json/json-members.js';
import { chooseModel, type ModelChoice } from './model-choice.rules.js';
import { OwnResponses } from './own-responses.service.js';
import type { ProxyPlan } from './plan.js';

/** Judges a body against the plan and makes of it what is sent: one decision, on the bytes that leave (threats 3.1). */
@Injectable()
export class ProxyPolicy {
  constructor(
    private readonly prices: PriceBook,
    private readonly responses: OwnResponses,
    private readonly ids: Ids,
  ) {}

  /**
   * @param contentType the request's header, empty when absent.
   * @throws invalid_request, model_not_allowed, pricing_not_configured, max_output_tokens_exceeded.
   * Source: contract-app 6.3, steps 7 to 9.
   */
  admit(caller: Caller, plan: ProxyPlan, body: Buffer, contentType: string): Ready<AdmittedRequest> {
    return isFormType(contentType)
      ? this.admitForm(caller, plan, body, contentType)
      : this.admitJson(caller, plan, body);
  }

  private admitJson(caller: Caller, plan: ProxyPlan, body: Buffer): Ready<AdmittedRequest> {
    if (plan.style === 'audio_transcription') {
      judgeTranscriptionFormat({ type: plan.provider.type, isForm: false, format: undefined });
    }
    return whenReady(scanBody(body), (scan) => this.judgeJson(caller, plan, scan));
  }

  private judgeJson(caller: Caller, plan: ProxyPlan, scan: ScannedBody): Ready<AdmittedRequest> {
    const { provider, style, access } = plan;
    const { type, route, dialect } = provider;
    const facts = readRequestFacts(scan);
    judgeStoredObjects(scan);
    const ownedResponseId = readOwnedResponse(scan);
    const hostedTools = judgeCosts(scan, style);
    judgeModelAlternatives(scan, { type, routeKind: route.kind, allowedModels: access.allowedModels });
    const model = chooseModel(plan, caller.app, facts.model, this.prices);
    const edits: JsonEdit[] = [];
    if (model.source === 'body' && model.wire !== model.requested) {
      edits.push(setMember(scan.root, 'model', JSON.stringify(model.wire)));
    }
    const output = judgeOutput(scan, {
      style: capStyleFor(dialect, style, plan.match.entry.clamp, plan.path),
      cap: access.maxOutputTokens,
      chatField: dialect.capFieldForChat,
    });
    const usage = usageEdits(scan, facts, style);
    edits.push(...output.edits, ...usage.edits, ...gatewayOptionEdits(scan, route));
    const body = edits.length === 0 ? scan.bytes : applyEdits(scan.bytes, edits);
    const { withholdUsageChunk } = usage;
    const bounds = boundsOfJson(scan, output, hostedTools);
    const path = pathFor(plan, model);
    const admitted: AdmittedRequest = { model, path, body, withholdUsageChunk, hostedTools, bounds };
    if (ownedResponseId === undefined) return admitted;
    return this.responses.require(caller, ownedResponseId).then(() => admitted);
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
    if (model.source === 'body' && model.wire !== model.requested) changes.set('model', model.wire);
    const isTranscription = plan.style === 'audio_transcription';
    if (isTranscription) {
      const format = findFormField(parts, 'response_format');
      const { set } = judgeTranscriptionFormat({ type: plan.provider.type, isForm: true, format });
      if (set !== undefined) changes.set('response_format', set);
    }
    const bounds = boundsOfForm(body.length, parts, isTranscription);
    const judged = { model, path: pathFor(plan, model), withholdUsageChunk: false, hostedTools: [], bounds };
    if (changes.size === 0) return { ...judged, body, contentType };
    const boundary = formBoundary(this.ids);
    return { ...judged, body: rebuildForm(parts, changes, boundary), contentType: formType(boundary) };
  }
}

/** Path and query as sent upstream; a model that changed goes back to where it came from. */
function pathFor({ provider, match, path, query }: ProxyPlan, model: ModelChoice): string {
  const suffix = query === '' ? '' : `?${query}`;
  const isKept = model.source !== 'path' || model.wire === model.requested;
  const named = isKept ? path : match.entry.path.replace('{model}', () => encodeURIComponent(model.wire));
  return provider.route.upstreamPath(named) + suffix;
}
