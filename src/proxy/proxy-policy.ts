import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/callers/caller.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import { NO_CHARGE } from '../pricing/model-price.js';
import { OutputLimits } from '../pricing/output-limits.service.js';
import { PriceBook } from '../pricing/price-book.js';
import { bodyOfPath, capStyleFor } from '../upstreams/path-policy.rules.js';
import { askedByForm, askedByJson } from './admission/asked-usage.rules.js';
import { boundsOfForm, boundsOfJson } from './admission/max-usage.rules.js';
import { sentByForm, sentByJson } from './admission/sent-usage.rules.js';
import type { AdmittedRequest } from './admitted-request.js';
import { nestedModelEdits, nestedNamesOf, validateModelAlternatives } from './body/body-models.rules.js';
import { type RequestedWork, validateCostMembers, validateTranscriptionFormat } from './body/cost-members.rules.js';
import { gatewayOptionEdits } from './body/gateway-options.rules.js';
import {
  keepsObjects,
  keptReferences,
  pathReferences,
  validateKeptFields,
  validateKeptParameters,
} from './body/kept-objects.rules.js';
import { validateOutputCap } from './body/output-cap.rules.js';
import { type RequestFacts, readRequestFacts, usageEdits } from './body/request-facts.rules.js';
import { pricedTier } from './body/service-tier.rules.js';
import { boundsOfToolModels, limitedToolEdits, toolModelRules } from './body/tool-models.rules.js';
import { formBoundary, formType, isFormType } from './forms/form-shape.rules.js';
import { findFormField, readForm, rebuildForm } from './forms/multipart-form.js';
import { applyEdits, type JsonEdit, setMember } from './json/json-edit.js';
import { scanBody } from './json/json-scan.js';
import type { ScannedBody } from './json/scanned-body.js';
import { chooseModel, inBodySpelling, type ModelChoice, modelWithoutBody } from './model-choice.rules.js';
import { OwnObjects } from './own-objects.service.js';
import type { ProxyPlan } from './proxy-plans.js';

/** Common values of all free requests. */
const FREE = {
  isFree: true,
  withholdUsageChunk: false,
  hostedTools: [],
  bounds: { inputTokens: 0, outputTokens: 0, audioSeconds: 0 },
  sent: { inputTokens: 0, audioSeconds: 0 },
} as const satisfies Partial<AdmittedRequest>;

/** A planned call before validation. */
interface PlannedCall {
  readonly caller: Caller;
  readonly plan: ProxyPlan;
  /** Time of the request, in milliseconds since the Unix epoch; determines the day of the prices. */
  readonly atMs: number;
}

interface ScannedJson {
  readonly scan: ScannedBody;
  /** The same body, scanned for nested models, on paths that have them. */
  readonly nested: ScannedBody | undefined;
  readonly requested: RequestedWork;
  /** Of tools that have an output limit. */
  readonly toolEdits: readonly JsonEdit[];
  /** Whether it names objects kept at the provider. */
  readonly namesKept: boolean;
}

/** Validates a body against the plan and composes the body to send, so that the validated bytes are the sent bytes. */
@Injectable()
export class ProxyPolicy {
  constructor(
    private readonly prices: PriceBook,
    private readonly outputLimits: OutputLimits,
    private readonly objects: OwnObjects,
    private readonly ids: Ids,
  ) {}

  /**
   * Validates a request with a body.
   *
   * @param contentType the request's header, empty when absent.
   * @throws invalid_request, model_not_allowed, pricing_not_configured, max_output_tokens_exceeded.
   * Source: docs/reference/application-api.md#order-of-checks.
   */
  async admit(call: PlannedCall, body: Buffer, contentType: string): Promise<AdmittedRequest> {
    const { plan } = call;
    validateKeptParameters(plan.query);
    const isForm = isFormType(contentType);
    const taken = bodyOfPath(plan.style, plan.path);
    if (isForm && taken === 'json') throw invalidRequest('body', 'send application/json on this path, not a form');
    if (!isForm && taken === 'form') throw invalidRequest('body', 'send multipart/form-data on this path');
    return isForm ? await this.admitForm(call, body, contentType) : await this.admitJson(call, body);
  }

  /**
   * Validates a request whose method has no body, and that its caller owns the object that the path names.
   *
   * @throws as `admitBare`; invalid_request the object was not made for this application and user.
   */
  async admitBareOfOwner(caller: Caller, plan: ProxyPlan, headers: IncomingHttpHeaders): Promise<AdmittedRequest> {
    const admitted = this.admitBare(caller, plan, headers);
    await this.objects.require(caller, pathReferences(plan.match));
    return admitted;
  }

  /**
   * Validates a request whose method has no body.
   *
   * @throws invalid_request the headers announce a body; model_not_allowed.
   */
  admitBare(caller: Caller, plan: ProxyPlan, headers: IncomingHttpHeaders): AdmittedRequest {
    validateKeptParameters(plan.query);
    const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
    if (coding !== undefined || Number(length) > 0)
      throw invalidRequest('body', `must be absent in a ${plan.method} of this path`);
    const model = modelWithoutBody(plan, caller.app);
    return { ...FREE, model, path: pathFor(plan, model), body: undefined };
  }

  private async admitJson(call: PlannedCall, body: Buffer): Promise<AdmittedRequest> {
    const { plan } = call;
    const names = plan.match.model === undefined ? undefined : nestedNamesOf(plan.path);
    const scan = await scanBody(body);
    const nested = names && (await scanBody(body, { names }));
    const facts = readRequestFacts(scan);
    const references = [...pathReferences(plan.match), ...keptReferences(scan, plan.style)];
    const requested = validateCostMembers(scan, plan.style);
    const toolEdits = await limitedToolEdits(scan, requested.tools, plan.access.maxOutputTokens);
    const admitted = this.composeJson(call, facts, {
      scan,
      nested,
      requested,
      toolEdits,
      namesKept: references.length > 0,
    });
    if (references.length > 0) await this.objects.require(call.caller, references);
    return admitted;
  }

  private composeJson(call: PlannedCall, facts: RequestFacts, checked: ScannedJson): AdmittedRequest {
    const { scan, nested, requested } = checked;
    const { plan } = call;
    const { provider, style, access } = plan;
    const { type, route, dialect } = provider;
    const { tools, hosted: hostedTools } = requested;
    validateModelAlternatives(scan, { type, routeKind: route.kind, allowedModels: access.allowedModels });
    const model = this.choose(call, facts.model);
    const tier = pricedTier(requested.tier, model.price);
    const edits: JsonEdit[] = nested === undefined ? [] : nestedModelEdits(nested, model);
    const renamed = renamedInBody(model, facts.model);
    if (renamed !== undefined) edits.push(setMember(scan.root, 'model', JSON.stringify(renamed)));
    const output = validateOutputCap(scan, {
      style: capStyleFor(dialect, style, plan.match.entry.clamp, plan.path),
      cap: access.maxOutputTokens,
      chatField: dialect.capFieldForChat,
    });
    const usage = usageEdits(scan, facts, { style, streamsUsage: dialect.streamsUsage });
    edits.push(...output.edits, ...usage.edits, ...gatewayOptionEdits(scan, route), ...checked.toolEdits);
    const body = edits.length === 0 ? scan.bytes : applyEdits(scan.bytes, edits);
    const { withholdUsageChunk } = usage;
    const modelTokens = this.outputLimits.find(type, model.canonical);
    const own = boundsOfJson(scan, output, { hostedTools, modelTokens, namesKept: checked.namesKept });
    const { allowedModels, maxOutputTokens: cap } = access;
    const target = { provider, style, allowedModels, cap, atMs: call.atMs };
    const bounds = boundsOfToolModels(scan, tools, own, () =>
      toolModelRules(target, { prices: this.prices, outputLimits: this.outputLimits }),
    );
    const asked = askedByJson(scan, plan.path, model.price);
    const path = pathFor(plan, model);
    return dialect.isFree(plan.path)
      ? { ...FREE, model: { ...model, price: NO_CHARGE }, path, body }
      : {
          ...{ model, path, body, withholdUsageChunk, hostedTools },
          ...{ bounds: { ...bounds, asked }, sent: { ...sentByJson(scan, bounds), asked, tier } },
          keeps: keepsObjects(scan, style, hostedTools),
        };
  }

  private async admitForm(call: PlannedCall, body: Buffer, contentType: string): Promise<AdmittedRequest> {
    const { plan } = call;
    const parts = await readForm(body, contentType);
    validateKeptFields(parts);
    await this.objects.require(call.caller, pathReferences(plan.match));
    const inForm = findFormField(parts, 'model');
    const model = this.choose(call, inForm);
    const changes = new Map<string, string>();
    const renamed = renamedInBody(model, inForm);
    if (renamed !== undefined) changes.set('model', renamed);
    const isTranscription = plan.style === 'audio_transcription';
    if (isTranscription) {
      const format = findFormField(parts, 'response_format');
      const { set } = validateTranscriptionFormat(plan.provider.type, format);
      if (set !== undefined) changes.set('response_format', set);
    }
    const asked = askedByForm(parts, plan.path, model.price);
    const bounds = { ...boundsOfForm(body.length, parts, isTranscription), asked };
    const path = pathFor(plan, model);
    const sent = { ...sentByForm(parts, isTranscription, bounds), asked };
    const keeps = plan.style === 'other';
    const checked = { model, path, withholdUsageChunk: false, hostedTools: [], bounds, sent, keeps };
    if (changes.size === 0) return { ...checked, body, contentType };
    const boundary = formBoundary(this.ids);
    return { ...checked, body: rebuildForm(parts, changes, boundary), contentType: formType(boundary) };
  }

  private choose({ caller, plan, atMs }: PlannedCall, inBody: string | undefined): ModelChoice {
    const { type, customPrices } = plan.provider;
    return chooseModel(plan, caller.app, inBody, (model) => this.prices.find(type, model, customPrices, atMs));
  }
}

/** The model name to write into the body; undefined where the body needs no change or has no model. */
function renamedInBody({ wire, requested }: ModelChoice, inBody: string | undefined): string | undefined {
  return inBody === undefined || wire === requested ? undefined : inBodySpelling(inBody, wire);
}

/** Path and query as sent upstream, with a changed model where the path names one. */
function pathFor({ provider, match, path, query }: ProxyPlan, model: ModelChoice): string {
  const suffix = query === '' ? '' : `?${query}`;
  const isKept = model.source !== 'path' || model.wire === model.requested;
  const named = isKept ? path : match.template.replace('{model}', () => encodeURIComponent(model.wire));
  return provider.route.upstreamPath(named) + suffix;
}
