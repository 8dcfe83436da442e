import { CreateAppKeyRequest } from '../../app-keys/dto/create-app-key.request.js';
import { CreateAppRequest } from '../../apps/dto/apps.request.js';
import { ChangeOperationsController } from '../../cli/changes/change-operations.controller.js';
import {
  ChangeRequests,
  type OpenedChange,
  type ReservedChange,
  type TwoStepRequest,
} from '../../cli/changes/change-requests.service.js';
import { ChangeOperationResponse } from '../../cli/dto/change-operation.response.js';
import type { ChangeKind } from '../../cli/operations/resource-operations.js';
import { Int } from '../../common/fields/fields.js';
import { readShape } from '../../common/fields/read-shape.js';
import { CreateProviderRequest } from '../../providers/dto/provider.request.js';
import { CREATE_FORMS } from '../../providers/provider-gateways/dto/provider-gateway.request.js';
import { NoArguments, type PermittedCall, type Tool, type ToolAnswer, type ToolFacts, tool } from './tool.js';

const TYPES_THE_KEY = 'Give the person this link: they type the key there. Read the result with get_operation.';
const STEP =
  'Returns a link for the person, who types the key in the console within 15 minutes; no key passes through here.';
const OPERATION = { operation: '`operation` of the first answer; sent with the same arguments, it runs the change.' };

/** The revision of what is to be rotated. */
class RotationArguments {
  @Int({ min: 1, optional: true, description: 'The revision you read. When sent, it must be the stored one.' })
  readonly revision?: number;
}

/** A tool over changes. The body is built from the arguments; the service validates it. */
interface Change<K extends ChangeKind> extends ToolFacts, Pick<Tool, 'app' | 'input' | 'forms'> {
  readonly kind: K;
  payload(call: PermittedCall): object;
}

/** A tool that runs at its second call. */
function twoStepTool({ kind, payload, ...facts }: Change<TwoStepRequest['kind']>): Tool {
  return {
    ...{ ...facts, controller: ChangeRequests, method: 'run' satisfies keyof ChangeRequests, optional: OPERATION },
    async answer(call, find) {
      const request = { kind, payload: payload(call), address: call.address };
      const { operation } = call.named;
      if (operation === undefined) return reserved(facts.name, await find(ChangeRequests).reserve(call.admin, request));
      const body = ChangeOperationResponse.from(await find(ChangeRequests).run(call.admin, request, operation));
      const next =
        body.reveal_url === undefined
          ? 'Read the result with get_operation.'
          : 'Give the person reveal_url: signed in to the console, an owner or admin sees the key there once, for 15 minutes.';
      return { body: { ...body, next }, summary: 'Done.' };
    },
  };
}

function reserved(name: string, { id, expiresAt }: ReservedChange): ToolAnswer {
  const next = `Nothing is changed yet. Call ${name} again with the same arguments and this operation.`;
  const body = { operation: id, id, expiresAt: expiresAt.toISOString(), next };
  return { body, summary: `Reserved until ${body.expiresAt}: call it again with operation to do it.` };
}

/** A tool whose change a person completes in a browser. */
function browserTool({ kind, payload, next, ...facts }: Change<ChangeKind> & { readonly next: string }): Tool {
  return {
    ...{ ...facts, controller: ChangeRequests, method: 'open' satisfies keyof ChangeRequests },
    async answer(call, find) {
      const opened = await find(ChangeRequests).open(call.admin, {
        kind,
        payload: payload(call),
        address: call.address,
      });
      return {
        body: { ...stepOf(opened), next },
        summary: `Waiting for a person until ${opened.expiresAt.toISOString()}.`,
      };
    },
  };
}

function stepOf({ id, url, expiresAt, earlier }: OpenedChange): object {
  const notice =
    earlier &&
    `The same was requested at ${earlier.createdAt.toISOString()}: read operation ${earlier.id} before you ask again.`;
  return { operation: id, url, expiresAt: expiresAt.toISOString(), ...(notice && { notice }) };
}

/** Tools that create, that replace keys, and that need a person. */
export const CHANGE_TOOLS: readonly Tool[] = [
  tool({
    name: 'get_operation',
    title: 'Read the state of an operation',
    description:
      'A change that a person completes in a browser, or that was run by a second call. Never returns a key.',
    route: [ChangeOperationsController, 'get'],
    named: { id: 'Id of the operation.' },
    run: (operations, { admin, named: { id = '' } }) => operations.get(admin, id),
    summary: ({ kind, state }) => `The operation ${kind} is ${state}.`,
  }),
  twoStepTool({
    name: 'add_app',
    title: 'Add an application',
    description:
      'The first call validates and reserves; the second, with `operation`, creates the application and its first key. The key is shown to a person only.',
    kind: 'app.add',
    app: 'none',
    input: CreateAppRequest,
    formerly: { inside: { name: 'config', holdsBody: (value) => 'config' in value || 'name' in value } },
    payload: ({ members }) => members,
  }),
  twoStepTool({
    name: 'add_app_key',
    title: 'Issue an application key',
    description:
      'The first call reserves; the second, with `operation`, issues the key, which expires at `expires_at`. It is ' +
      'shown to a person only. For applications with key authentication.',
    kind: 'app.key.add',
    app: 'required',
    input: CreateAppKeyRequest,
    payload: ({ app, members }) => ({ ...readShape(CreateAppKeyRequest, members), app: app?.id }),
  }),
  browserTool({
    name: 'add_provider',
    title: 'Add a provider',
    description: STEP,
    kind: 'provider.add',
    app: 'none',
    input: CreateProviderRequest,
    payload: ({ members }) => members,
    next:
      'Give the person this link: they type the key there, or confirm it where a provider gateway has one. Read ' +
      'the result with get_operation.',
  }),
  browserTool({
    name: 'add_provider_gateway',
    title: 'Add a provider gateway',
    description: STEP,
    kind: 'provider-gateway.add',
    app: 'none',
    input: NoArguments,
    forms: Object.values(CREATE_FORMS),
    formerly: { inside: { name: 'gateway', holdsBody: () => true } },
    payload: ({ members }) => members,
    next: TYPES_THE_KEY,
  }),
  browserTool({
    name: 'rotate_provider_key',
    title: 'Replace the key of a provider',
    description: STEP,
    kind: 'provider.rotate-key',
    app: 'none',
    input: RotationArguments,
    named: { provider: 'Id or slug of the provider.' },
    formerly: { names: { provider: 'id' } },
    destructive: true,
    payload: ({ named: { provider }, members }) => ({ ...readShape(RotationArguments, members), provider }),
    next: TYPES_THE_KEY,
  }),
  browserTool({
    name: 'rotate_provider_gateway_key',
    title: 'Replace the token of a provider gateway',
    description: STEP,
    kind: 'provider-gateway.rotate-key',
    app: 'none',
    input: RotationArguments,
    named: { gateway: 'Id of the provider gateway.' },
    formerly: { names: { gateway: 'id' } },
    destructive: true,
    payload: ({ named: { gateway }, members }) => ({ ...readShape(RotationArguments, members), gateway }),
    next: TYPES_THE_KEY,
  }),
  browserTool({
    name: 'claim_account',
    title: 'Have a person claim the account',
    description: 'Returns a link with which a person claims an unclaimed account, within 15 minutes.',
    kind: 'claim',
    app: 'none',
    input: NoArguments,
    payload: ({ members }) => readShape(NoArguments, members),
    next: 'Give the person this link: they register or sign in there, and then own the account.',
  }),
];
