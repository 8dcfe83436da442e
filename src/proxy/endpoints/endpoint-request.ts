import { Injectable } from '@nestjs/common';
import type { NamedEndpoint, ResponsesEndpoint } from '../../app-directory/config/endpoints-config.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import { Ids } from '../../common/ids.js';
import type { UsageBounds } from '../../pricing/max-cost.rules.js';
import { OutputLimits } from '../../pricing/output-limits.service.js';
import { PriceBook } from '../../pricing/price-book.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import { boundsOfForm, boundsOfJson } from '../admission/max-usage.rules.js';
import { sentByForm, sentByJson } from '../admission/sent-usage.rules.js';
import type { AdmittedRequest } from '../admitted-request.js';
import { validateModelAlternatives } from '../body/body-models.rules.js';
import { type RequestedWork, validateCostMembers } from '../body/cost-members.rules.js';
import { gatewayOptionEdits } from '../body/gateway-options.rules.js';
import { keepsObjects, keptReferences, responseReferences, validateKeptFields } from '../body/kept-objects.rules.js';
import { validateOutputCap } from '../body/output-cap.rules.js';
import { pricedTier } from '../body/service-tier.rules.js';
import { boundsOfToolModels, limitedToolEdits, toolModelRules } from '../body/tool-models.rules.js';
import { formBoundary, formType } from '../forms/form-shape.rules.js';
import { type FormPart, readForm, rebuildForm } from '../forms/multipart-form.js';
import { applyEdits, type JsonEdit, setMember } from '../json/json-edit.js';
import { compileMembers, JsonMerge, type MergeMembers } from '../json/json-merge.js';
import { scanBody } from '../json/json-scan.js';
import type { ScannedBody } from '../json/scanned-body.js';
import { OwnObjects } from '../own-objects.service.js';
import type { EndpointPlan } from './endpoint-plan.js';
import type { Target } from './endpoint-targets.rules.js';
import { composeTranscription, inOrderFor, requireFile, requireTranscriptionForm } from './transcription.rules.js';

/** A validated client request to an endpoint; composed per target on demand. */
export interface EndpointRequest {
  /** @throws invalid_request, max_output_tokens_exceeded: this target cannot serve the request. */
  forTarget(target: Target): AdmittedRequest;
  /** Maximum usage at this target. @throws as `forTarget`. */
  boundsFor(target: Target): UsageBounds;
}

const ANY_MODEL: ReadonlySet<string> = new Set();

/** Reads and validates the bodies of calls to named endpoints. */
@Injectable()
export class EndpointRequests {
  /** `params` of an endpoint, compiled once per version of its configuration. */
  readonly #params = new WeakMap<NamedEndpoint, MergeMembers>();

  constructor(
    private readonly outputLimits: OutputLimits,
    private readonly prices: PriceBook,
    private readonly objects: OwnObjects,
    private readonly ids: Ids,
  ) {}

  /**
   * Reads the body of a call to a named endpoint.
   *
   * @param contentType the request's header, empty when absent.
   * @throws invalid_request the body does not have the form of the endpoint.
   * Source: docs/reference/application-api.md#endpoint-bodies.
   */
  read(caller: Caller, plan: EndpointPlan, body: Buffer, contentType: string): Promise<EndpointRequest> {
    const { endpoint, pricedAtMs } = plan;
    return endpoint.api_style === 'responses'
      ? this.readResponses(caller, { endpoint, pricedAtMs }, body)
      : this.readTranscription(body, contentType);
  }

  /** Merges the endpoint's `params` over the client's members and validates the result like any other body. */
  private async readResponses(caller: Caller, plan: PricedEndpoint, body: Buffer): Promise<EndpointRequest> {
    const { endpoint } = plan;
    const merge = new JsonMerge(body, this.paramsOf(endpoint));
    const client = await scanBody(body, { merge });
    const references = [...keptReferences(client, 'responses')];
    const merged = merge.merged();
    // The validated bytes are the sent bytes.
    const scan = merged === body ? client : await scanBody(merged);
    const requested = validateCostMembers(scan, 'responses');
    const toolEdits = await limitedToolEdits(scan, requested.tools, endpoint.max_output_tokens);
    // A response belongs to a user, so the operator cannot name one for all.
    if (scan !== client) references.push(...responseReferences(scan));
    if (references.length > 0) await this.objects.require(caller, references);
    const namesKept = references.length > 0;
    const boundsFor = (target: Target) => this.boundsOfResponses(target, plan, { scan, requested, namesKept });
    const forTarget = (target: Target) =>
      responsesFor(target, { endpoint, scan, requested, toolEdits, bounds: boundsFor(target) });
    return { forTarget, boundsFor };
  }

  private async readTranscription(body: Buffer, contentType: string): Promise<EndpointRequest> {
    requireTranscriptionForm(contentType);
    const parts = await readForm(body, contentType);
    requireFile(parts);
    validateKeptFields(parts);
    const bounds = boundsOfForm(body.length, parts, true);
    return { forTarget: (target) => this.transcriptionFor(target, parts, bounds), boundsFor: () => bounds };
  }

  private boundsOfResponses(
    { provider, model, style }: Target,
    { endpoint, pricedAtMs }: PricedEndpoint,
    { scan, requested, namesKept }: CheckedPrompt,
  ): UsageBounds {
    const { hosted: hostedTools, tools, tier } = requested;
    pricedTier(tier, model.price);
    const modelTokens = this.outputLimits.find(provider.type, model.canonical);
    const own = boundsOfJson(scan, outputOf(scan, endpoint, provider), { hostedTools, modelTokens, namesKept });
    const { prices, outputLimits } = this;
    return boundsOfToolModels(scan, tools, own, () => {
      const models = { allowedModels: modelsOf(endpoint), cap: endpoint.max_output_tokens };
      return toolModelRules({ provider, style, ...models, atMs: pricedAtMs }, { prices, outputLimits });
    });
  }

  private transcriptionFor(
    { provider, path, model }: Target,
    parts: readonly FormPart[],
    bounds: UsageBounds,
  ): AdmittedRequest {
    const fields = composeTranscription(parts, { type: provider.type, model: model.wire });
    const boundary = formBoundary(this.ids);
    return {
      model,
      path: provider.route.upstreamPath(path),
      body: rebuildForm(inOrderFor(provider.type, parts), fields, boundary),
      contentType: formType(boundary),
      withholdUsageChunk: false,
      hostedTools: [],
      bounds,
      sent: sentByForm(parts, true, bounds),
    };
  }

  private paramsOf(endpoint: ResponsesEndpoint): MergeMembers {
    let params = this.#params.get(endpoint);
    if (params === undefined) {
      params = compileMembers(endpoint.params);
      this.#params.set(endpoint, params);
    }
    return params;
  }
}

/** A validated body and its maximum usage at one target. */
interface CheckedResponses {
  readonly endpoint: ResponsesEndpoint;
  readonly scan: ScannedBody;
  readonly requested: RequestedWork;
  readonly toolEdits: readonly JsonEdit[];
  readonly bounds: UsageBounds;
}

/** A validated prompt. */
interface CheckedPrompt {
  readonly scan: ScannedBody;
  readonly requested: RequestedWork;
  readonly namesKept: boolean;
}

/** An endpoint, and the instant whose prices apply, in milliseconds since the Unix epoch. */
interface PricedEndpoint {
  readonly endpoint: ResponsesEndpoint;
  readonly pricedAtMs: number;
}

function responsesFor({ provider, path, model }: Target, checked: CheckedResponses): AdmittedRequest {
  const { endpoint, scan, toolEdits, bounds } = checked;
  const { hosted: hostedTools, tier } = checked.requested;
  const { type, route } = provider;
  validateModelAlternatives(scan, { type, routeKind: route.kind, allowedModels: ANY_MODEL });
  const edits: JsonEdit[] = [
    setMember(scan.root, 'model', JSON.stringify(model.wire)),
    ...outputOf(scan, endpoint, provider).edits,
    ...gatewayOptionEdits(scan, route),
    ...toolEdits,
  ];
  const body = applyEdits(scan.bytes, edits);
  const sent = { ...sentByJson(scan, bounds), tier: pricedTier(tier, model.price) };
  const keeps = keepsObjects(scan, 'responses', hostedTools);
  return { model, path: route.upstreamPath(path), body, withholdUsageChunk: false, hostedTools, bounds, sent, keeps };
}

/**
 * The models that a client's tools may name: those of the endpoint. What the operator names in `params` is a model of
 * the endpoint too.
 */
function modelsOf(endpoint: ResponsesEndpoint): ReadonlySet<string> {
  if ('tools' in endpoint.params || 'plugins' in endpoint.params) return ANY_MODEL;
  return new Set([endpoint, ...endpoint.fallback].map(({ model }) => model));
}

function outputOf(scan: ScannedBody, { max_output_tokens: cap }: ResponsesEndpoint, { dialect }: ProviderInstance) {
  return validateOutputCap(scan, { style: 'responses', cap, chatField: dialect.capFieldForChat });
}
