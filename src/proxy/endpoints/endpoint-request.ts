import { Injectable } from '@nestjs/common';
import type { NamedEndpoint, ResponsesEndpoint } from '../../app-directory/config/app-config.js';
import type { Caller } from '../../client-auth/caller.js';
import { Ids } from '../../common/ids.js';
import { type Ready, whenReady } from '../../common/when-ready.js';
import { OutputLimits } from '../../pricing/output-limits.service.js';
import type { UsageBounds } from '../../pricing/worst-cost.rules.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import { sentByForm, sentByJson } from '../admission/sent-usage.rules.js';
import { boundsOfForm, boundsOfJson } from '../admission/worst-usage.rules.js';
import type { AdmittedRequest } from '../admitted-request.js';
import { judgeCosts } from '../body/cost-members.rules.js';
import { gatewayOptionEdits } from '../body/gateway-options.rules.js';
import { judgeKeptFields, judgeKeptObjects, readOwnedResponse } from '../body/kept-objects.rules.js';
import { judgeModelAlternatives } from '../body/model-alternatives.rules.js';
import { judgeOutput } from '../body/output-cap.rules.js';
import { formBoundary, formType } from '../forms/form-type.rules.js';
import { type FormPart, readForm, rebuildForm } from '../forms/multipart-form.js';
import { mergeBody, scanBody } from '../json/body-steps.js';
import { applyEdits, type JsonEdit, setMember } from '../json/json-edit.js';
import type { ScannedBody } from '../json/json-members.js';
import { compileMembers, type MergeMembers } from '../json/json-merge-members.rules.js';
import { OwnResponses } from '../own-responses.service.js';
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
    private readonly responses: OwnResponses,
    private readonly ids: Ids,
  ) {}

  /**
   * Reads the body of a call to a named endpoint.
   *
   * @param contentType the request's header, empty when absent.
   * @throws invalid_request the body does not have the form of the endpoint.
   * Source: docs/reference/application-api.md#endpoint-bodies.
   */
  read(caller: Caller, { endpoint }: EndpointPlan, body: Buffer, contentType: string): Ready<EndpointRequest> {
    return endpoint.api_style === 'responses'
      ? this.readResponses(caller, endpoint, body)
      : this.readTranscription(body, contentType);
  }

  /** Merges the endpoint's `params` over the client's members and validates the result like any other body. */
  private readResponses(caller: Caller, endpoint: ResponsesEndpoint, body: Buffer): Ready<EndpointRequest> {
    const params = this.paramsOf(endpoint);
    return whenReady(scanBody(body), (client) => {
      // Only the operator may reference objects stored at the provider, in `params`.
      judgeKeptObjects(client);
      return whenReady(withMembers(client, params), (scan) => {
        const hostedTools = judgeCosts(scan, 'responses');
        const responseId = readOwnedResponse(scan);
        const boundsFor = (target: Target) => this.boundsOfResponses(target, endpoint, scan, hostedTools);
        const forTarget = (target: Target) =>
          responsesFor(target, { endpoint, scan, hostedTools, bounds: boundsFor(target) });
        const request: EndpointRequest = { forTarget, boundsFor };
        if (responseId === undefined) return request;
        return this.responses.require(caller, responseId).then(() => request);
      });
    });
  }

  private async readTranscription(body: Buffer, contentType: string): Promise<EndpointRequest> {
    requireTranscriptionForm(contentType);
    const parts = await readForm(body, contentType);
    requireFile(parts);
    judgeKeptFields(parts);
    const bounds = boundsOfForm(body.length, parts, true);
    return { forTarget: (target) => this.transcriptionFor(target, parts, bounds), boundsFor: () => bounds };
  }

  private boundsOfResponses(
    { provider, model }: Target,
    endpoint: ResponsesEndpoint,
    scan: ScannedBody,
    hostedTools: readonly string[],
  ): UsageBounds {
    const modelTokens = this.outputLimits.find(provider.type, model.canonical);
    return boundsOfJson(scan, outputOf(scan, endpoint, provider), hostedTools, modelTokens);
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
interface JudgedResponses {
  readonly endpoint: ResponsesEndpoint;
  readonly scan: ScannedBody;
  readonly hostedTools: readonly string[];
  readonly bounds: UsageBounds;
}

function responsesFor({ provider, path, model }: Target, judged: JudgedResponses): AdmittedRequest {
  const { endpoint, scan, hostedTools, bounds } = judged;
  const { type, route } = provider;
  judgeModelAlternatives(scan, { type, routeKind: route.kind, allowedModels: ANY_MODEL });
  const edits: JsonEdit[] = [
    setMember(scan.root, 'model', JSON.stringify(model.wire)),
    ...outputOf(scan, endpoint, provider).edits,
    ...gatewayOptionEdits(scan, route),
  ];
  const body = applyEdits(scan.bytes, edits);
  const sent = sentByJson(scan, bounds);
  return { model, path: route.upstreamPath(path), body, withholdUsageChunk: false, hostedTools, bounds, sent };
}

function outputOf(scan: ScannedBody, { max_output_tokens: cap }: ResponsesEndpoint, { dialect }: ProviderInstance) {
  return judgeOutput(scan, { style: 'responses', cap, chatField: dialect.capFieldForChat });
}

/** Merges members over a body and scans it again if that changed it, so that the validated bytes are the sent bytes. */
function withMembers(scan: ScannedBody, members: MergeMembers): Ready<ScannedBody> {
  if (members.size === 0) return scan;
  return whenReady(mergeBody(scan.bytes, members), (merged) => (merged === scan.bytes ? scan : scanBody(merged)));
}
