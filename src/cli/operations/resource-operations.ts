import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import type { IssuedAppKey } from '../../app-keys/app-key.entity.js';
import { AppKeysService } from '../../app-keys/app-keys.service.js';
import { CreateAppKeyRequest } from '../../app-keys/dto/create-app-key.request.js';
import { AppViews } from '../../apps/app-views.js';
import { CreateAppService, type CreatedApp } from '../../apps/create-app.service.js';
import { AppResponse } from '../../apps/dto/app.response.js';
import { CreateAppRequest } from '../../apps/dto/apps.request.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Int, Text } from '../../common/fields/fields.js';
import { readShape } from '../../common/fields/read-shape.js';
import type { Write } from '../../idempotency/creation.js';
import { CreateProviderRequest, UpdateProviderRequest } from '../../providers/dto/provider.request.js';
import { ProviderResponse } from '../../providers/dto/provider.response.js';
import { readByType, type SentBody } from '../../providers/provider-gateways/dto/by-gateway-type.js';
import {
  CREATE_FORMS,
  type CreateGatewayRequest,
} from '../../providers/provider-gateways/dto/provider-gateway.request.js';
import { ProviderGatewayResponse } from '../../providers/provider-gateways/dto/provider-gateway.response.js';
import {
  type CountedProviderGateway,
  ProviderGatewaysService,
  requireRevision,
} from '../../providers/provider-gateways/provider-gateways.service.js';
import type { RoutedProvider } from '../../providers/provider-routes.service.js';
import { ProvidersService } from '../../providers/providers.service.js';
import type { OperationKind, OperationPayload } from './operation.rules.js';

/** Kinds that change a resource of the account. */
const RESOURCE_KINDS = [
  'app.add',
  'app.key.add',
  'provider.add',
  'provider.update',
  'provider.rotate-key',
  'provider-gateway.add',
  'provider-gateway.rotate-key',
] as const;

export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Kinds that change an account: not those that open or enter one. */
export const CHANGE_KINDS = ['claim', ...RESOURCE_KINDS] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

export function isChangeKind(kind: OperationKind): kind is ChangeKind {
  return CHANGE_KINDS.some((known) => known === kind);
}

export function isResourceKind(kind: OperationKind): kind is ResourceKind {
  return RESOURCE_KINDS.some((known) => known === kind);
}

/** The outcome of an operation: the public part, and a key that is shown for a while. */
export interface Outcome {
  readonly result: object;
  readonly issued?: IssuedAppKey;
}

/** Runs the transaction that ends an operation together with its change. */
export type Ending = <T>(toOutcome: (changed: T) => Outcome) => Write<T>;

/** A resource operation that is ready to run. */
export interface ResourceOperation {
  /** Whether a person types a secret on the page. */
  readonly wantsSecret: boolean;
  /** The resource that is to be changed, as the approval page shows it. */
  readonly snapshot?: object;
  /**
   * Validates it against the stored state, as far as possible without the secret; absent where `prepare` has done so.
   *
   * @throws as `run`.
   */
  validate?(): Promise<void> | void;
  /** @param secret undefined unless `wantsSecret`, or where the request brought it. */
  run(secret: string | undefined, ending: Ending): Promise<unknown>;
}

class AddAppKeyPayload extends CreateAppKeyRequest {
  @Text({ max: 100 })
  readonly app: string;
}

class RotateProviderKeyPayload {
  @Text({ max: 100 })
  readonly provider: string;

  @Int({ min: 1, optional: true })
  readonly revision?: number;
}

class RotateGatewayKeyPayload {
  @Text({ max: 100 })
  readonly gateway: string;

  @Int({ min: 1, optional: true })
  readonly revision?: number;
}

class ProviderName {
  @Text({ max: 100 })
  readonly provider: string;
}

/** How a payload is read. */
interface PayloadReading {
  /** Whether a person completes it in a browser; the payload then brings no secret. */
  readonly isStep: boolean;
}

/** Stands for the secret while a payload is validated before it is typed. */
const UNTYPED_SECRET = 'typed-by-a-person';

/**
 * Operations on resources. Each ends in the service of its management route, with the same validation.
 *
 * Source: docs/reference/management-api.md#terminal-operations.
 */
@Injectable()
export class ResourceOperations {
  constructor(
    private readonly directory: AppDirectoryService,
    private readonly creation: CreateAppService,
    private readonly views: AppViews,
    private readonly appKeys: AppKeysService,
    private readonly providers: ProvidersService,
    private readonly gateways: ProviderGatewaysService,
  ) {}

  /**
   * Validates a payload and prepares its operation.
   *
   * @throws invalid_request at the path in the payload, and as the management route.
   */
  prepare(
    kind: ResourceKind,
    admin: AdminPrincipal,
    payload: OperationPayload,
    reading: PayloadReading,
  ): Promise<ResourceOperation> {
    switch (kind) {
      case 'app.add':
        return this.addApp(admin, payload);
      case 'app.key.add':
        return this.addAppKey(admin, payload);
      case 'provider.add':
        return this.addProvider(admin, payload, reading);
      case 'provider.update':
        return this.updateProvider(admin, payload);
      case 'provider.rotate-key':
        return this.rotateProviderKey(admin, payload);
      case 'provider-gateway.add':
        return this.addGateway(admin, payload, reading);
      case 'provider-gateway.rotate-key':
        return this.rotateGatewayKey(admin, payload);
    }
  }

  private async addApp(admin: AdminPrincipal, payload: OperationPayload): Promise<ResourceOperation> {
    const body = readShape(CreateAppRequest, payload);
    await this.creation.validate(admin, body);
    const toOutcome = ({ app, key }: CreatedApp): Outcome => ({
      result: { app: AppResponse.from(this.views.of(app)).app },
      ...(key === null ? {} : { issued: key }),
    });
    return { wantsSecret: false, run: (_secret, ending) => this.creation.create(admin, body, ending(toOutcome)) };
  }

  private async addAppKey(admin: AdminPrincipal, payload: OperationPayload): Promise<ResourceOperation> {
    const { app: appId, ...body } = readShape(AddAppKeyPayload, payload);
    const app = await this.directory.requireOwn(admin.organizationId, appId);
    this.appKeys.validateNew(app, body);
    const toOutcome = (issued: IssuedAppKey): Outcome => ({ result: { appId }, issued });
    return { wantsSecret: false, run: (_secret, ending) => this.appKeys.create(admin, app, body, ending(toOutcome)) };
  }

  private async addProvider(
    admin: AdminPrincipal,
    payload: OperationPayload,
    { isStep }: PayloadReading,
  ): Promise<ResourceOperation> {
    if (isStep) requireWithout(payload, 'secret');
    const wantsSecret = isStep && !('providerGatewayId' in payload);
    const body = readShape(CreateProviderRequest, wantsSecret ? { ...payload, secret: UNTYPED_SECRET } : payload);
    const validate = () => this.providers.validateNew(admin, body);
    const run = (secret: string | undefined, ending: Ending) =>
      this.providers.create(admin, secret === undefined ? body : { ...body, secret }, ending(ofProvider));
    return { wantsSecret, validate, run };
  }

  private async updateProvider(admin: AdminPrincipal, payload: OperationPayload): Promise<ResourceOperation> {
    requireWithout(payload, 'secret');
    const { provider: name, ...members } = payload as { readonly provider?: unknown };
    const { provider } = readShape(ProviderName, { provider: name });
    const body = readShape(UpdateProviderRequest, members);
    const routed = await this.providers.get(admin, provider);
    // A new address needs the key that is to be sent there.
    const wantsSecret = typeof body.baseUrl === 'string';
    const asked = wantsSecret ? { ...body, secret: UNTYPED_SECRET } : body;
    const validate = () => this.providers.validateChange(routed, asked);
    const run = (secret: string | undefined, ending: Ending) => {
      const change = secret === undefined ? body : { ...body, secret };
      return this.providers.update(admin, routed.row.id, change, ending(ofProvider));
    };
    return { wantsSecret, snapshot: ProviderResponse.from(routed).provider, validate, run };
  }

  private async rotateProviderKey(admin: AdminPrincipal, payload: OperationPayload): Promise<ResourceOperation> {
    const { provider, revision } = readShape(RotateProviderKeyPayload, payload);
    const routed = await this.providers.get(admin, provider);
    const validate = () => this.providers.validateChange(routed, { secret: UNTYPED_SECRET, revision });
    const run = (secret: string | undefined, ending: Ending) =>
      this.providers.update(admin, routed.row.id, { secret, revision }, ending(ofProvider));
    return { wantsSecret: true, snapshot: ProviderResponse.from(routed).provider, validate, run };
  }

  private async addGateway(
    admin: AdminPrincipal,
    payload: OperationPayload,
    { isStep }: PayloadReading,
  ): Promise<ResourceOperation> {
    if (isStep) requireWithout(payload, 'token');
    const sent: SentBody = { ...payload, ...(isStep ? { token: UNTYPED_SECRET } : {}) };
    const body = readByType<CreateGatewayRequest>(CREATE_FORMS, sent);
    const run = (secret: string | undefined, ending: Ending) =>
      this.gateways.create(admin, secret === undefined ? body : { ...body, token: secret }, ending(ofGateway));
    return { wantsSecret: isStep, run };
  }

  private async rotateGatewayKey(admin: AdminPrincipal, payload: OperationPayload): Promise<ResourceOperation> {
    const { gateway, revision } = readShape(RotateGatewayKeyPayload, payload);
    const counted = await this.gateways.get(admin, gateway);
    const validate = () => requireRevision(counted.row, revision);
    const run = (secret: string | undefined, ending: Ending) => {
      if (secret === undefined) throw invalidRequest('secret', 'is required');
      return this.gateways.rotate(admin, gateway, { token: secret, revision }, ending(ofGateway));
    };
    return { wantsSecret: true, snapshot: ProviderGatewayResponse.from(counted).gateway, validate, run };
  }
}

function ofProvider(provider: RoutedProvider): Outcome {
  return { result: { provider: ProviderResponse.from(provider).provider } };
}

function ofGateway(gateway: CountedProviderGateway): Outcome {
  return { result: { gateway: ProviderGatewayResponse.from(gateway).gateway } };
}

/** @throws invalid_request a secret in a payload whose secret a person types. */
function requireWithout(payload: OperationPayload, member: 'secret' | 'token'): void {
  if (!(member in payload)) return;
  throw invalidRequest(member, 'must be absent: a person types it on the approval page');
}
