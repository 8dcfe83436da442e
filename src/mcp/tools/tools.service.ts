import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { type INestApplication, Injectable, type Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { isAtLeast, requirePermission } from '../../accounts/access/admin-access.rules.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { ServiceTrouble, toGatewayError } from '../../common/errors/framework-error.rules.js';
import { judgedBelow } from '../../common/errors/gateway-error.js';
import { GatewayErrorLog } from '../../common/errors/gateway-error-log.js';
import { Access, type AccessDeclaration } from '../../common/http/access.js';
import { addressOf } from '../../platform/address-limits/client-address.rules.js';
import { Environment } from '../../platform/config/environment.js';
import { ACCOUNT_TOOLS } from './account-tools.js';
import { APP_TOOLS } from './app-tools.js';
import { CHANGE_TOOLS } from './change-tools.js';
import { PROVIDER_TOOLS } from './provider-tools.js';
import { REPORT_TOOLS } from './report-tools.js';
import type { FindController, Tool } from './tool.js';
import { currentArguments, refuseCredentials, requireText, splitArguments } from './tool-arguments.rules.js';
import { isMapAt } from './tool-maps.rules.js';
import { refusedResult, succeededResult, TEXT_PAGE, textPageOf, WRITTEN_BY_OTHERS } from './tool-results.rules.js';
import { type ObjectSchema, RequestSchemas } from './tool-schemas.js';
import { USER_TOOLS } from './user-tools.js';
import { WEBHOOK_TOOLS } from './webhook-tools.js';

const TOOLS: readonly Tool[] = [
  ...ACCOUNT_TOOLS,
  ...PROVIDER_TOOLS,
  ...APP_TOOLS,
  ...CHANGE_TOOLS,
  ...USER_TOOLS,
  ...REPORT_TOOLS,
  ...WEBHOOK_TOOLS,
];

/** Who calls a tool. */
export interface ToolCaller {
  readonly admin: AdminPrincipal;
  /** The HTTP request of the call, for the log. */
  readonly request: FastifyRequest;
}

/** The tools of the MCP endpoint. A call is checked in the order of a management route. */
@Injectable()
export class Tools {
  readonly #byName = new Map(TOOLS.map((tool) => [tool.name, tool]));
  readonly #find: FindController;
  #app: INestApplication | undefined;
  #all: ReadonlyMap<string, ListedTool> | undefined;

  constructor(
    private readonly reflector: Reflector,
    private readonly apps: AppDirectoryService,
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
    private readonly environment: Environment,
    modules: ModuleRef,
  ) {
    this.#find = <C>(type: Type<C>): C => modules.get(type, { strict: false });
  }

  /**
   * Takes the application whose routes describe the tools. Called once, before the application listens.
   *
   * @throws Error when a tool is not of a management route.
   */
  describedBy(app: INestApplication): void {
    this.#app = app;
    for (const tool of TOOLS) this.accessOf(tool);
  }

  /** The tools that the caller's role and grant allow. */
  listFor({ role, grant }: AdminPrincipal): ListedTool[] {
    const all = [...this.described().values()];
    if (isAtLeast(role, 'admin') && grant === 'manage') return all;
    return all.filter(({ annotations }) => annotations?.readOnlyHint);
  }

  private schemaOf({ name }: Tool): object {
    return this.described().get(name)?.inputSchema ?? {};
  }

  private described(): ReadonlyMap<string, ListedTool> {
    this.#all ??= new Map(this.describeAll().map((listed) => [listed.name, listed]));
    return this.#all;
  }

  private describeAll(): ListedTool[] {
    if (this.#app === undefined) throw new Error('the tools have no application');
    const inputs = new Set(TOOLS.flatMap(({ input, forms = [] }) => [input, ...forms]));
    const schemas = new RequestSchemas(this.#app, [...inputs]);
    return TOOLS.map((tool) => this.listed(tool, schemas));
  }

  /** The result of a call, including a refusal; `undefined` when there is no such tool. */
  call(caller: ToolCaller, name: string, sent: Readonly<Record<string, unknown>>): Promise<CallToolResult> | undefined {
    const tool = this.#byName.get(name);
    return tool && this.answer(tool, caller, sent).catch((thrown: unknown) => this.refuse(caller, thrown));
  }

  private async answer(
    tool: Tool,
    { admin, request }: ToolCaller,
    sent: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult> {
    const isRead = this.accessOf(tool).needs === 'read';
    const { [TEXT_PAGE]: page, ...others } = sent;
    const { sent: current, below } = currentArguments(tool, isRead ? others : sent);
    await judgedBelow(below, () => refuseCredentials(current, (path) => isMapAt(this.schemaOf(tool), path)));
    const app = await this.appOf(tool, admin, current);
    requirePermission(admin, this.accessOf(tool));
    const address = addressOf(request, this.environment.TRUSTED_PROXIES);
    const call = { admin, address, app, ...splitArguments(tool, current) };
    const textPage = textPageOf(isRead ? page : undefined);
    const answered = await judgedBelow(below ?? tool.inside, () => tool.answer(call, this.#find));
    return succeededResult(answered, textPage);
  }

  private async appOf(
    { app }: Tool,
    { organizationId }: AdminPrincipal,
    sent: Readonly<Record<string, unknown>>,
  ): Promise<AppRow | undefined> {
    if (app === 'none' || (app === 'optional' && sent.app === undefined)) return undefined;
    return this.apps.requireOwn(organizationId, requireText(sent, 'app'));
  }

  private refuse({ request }: ToolCaller, thrown: unknown): CallToolResult {
    const refusal = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
    this.errorLog.write(request, refusal);
    return refusedResult(refusal);
  }

  /** @throws Error when nothing but a guard checks who may call the route: a defect, found at the start. */
  private accessOf({ name, controller, method }: Tool): AccessDeclaration {
    const access = this.reflector.get(Access, Reflect.get(controller.prototype, method));
    if (access.scheme === 'management') return access;
    if (access.scheme === 'public') return { ...access, needs: 'read' };
    throw new Error(`The tool ${name} is not of a management route.`);
  }

  private listed(tool: Tool, schemas: RequestSchemas): ListedTool {
    const { name, title, destructive = false } = tool;
    const readOnlyHint = this.accessOf(tool).needs === 'read';
    return {
      ...{ name, title, description: `${tool.description ?? descriptionOf(tool)} ${WRITTEN_BY_OTHERS}` },
      inputSchema: readOnlyHint ? withTextPage(schemas.argumentsOf(tool)) : schemas.argumentsOf(tool),
      annotations: { readOnlyHint, destructiveHint: destructive, openWorldHint: false },
    };
  }
}

/** A page of the text is not an argument of the route. */
function withTextPage({ properties, ...schema }: ObjectSchema): ObjectSchema {
  const description = 'Which part of a long result text to show; 1 by default.';
  return { ...schema, properties: { ...properties, [TEXT_PAGE]: { type: 'integer', minimum: 1, description } } };
}

/** What the OpenAPI document says about the route. */
function descriptionOf({ controller, method }: Tool): string {
  const operation = Reflect.getMetadata('swagger/apiOperation', Reflect.get(controller.prototype, method));
  const { summary, description } = operation as { summary: string; description?: string };
  return description === undefined ? `${summary}.` : `${summary}. ${description}`;
}
