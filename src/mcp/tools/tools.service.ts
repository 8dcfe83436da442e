import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { type INestApplication, Injectable, type Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { AppRow } from '../../app-directory/app.entity.js';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { ServiceTrouble, toGatewayError } from '../../common/errors/framework-error.rules.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { GatewayErrorLog } from '../../common/errors/gateway-error-log.js';
import { Access, type AccessDeclaration } from '../../common/http/access.js';
import { isAtLeast, requirePermission } from '../../identity/admin-access.rules.js';
import type { AdminPrincipal } from '../../identity/admin-principal.js';
import { ACCOUNT_TOOLS } from './account-tools.js';
import { APP_TOOLS } from './app-tools.js';
import { CHANGE_TOOLS } from './change-tools.js';
import { PROVIDER_TOOLS } from './provider-tools.js';
import { REPORT_TOOLS } from './report-tools.js';
import type { FindController, Tool } from './tool.js';
import { nextStep, refuseCredentials, requireText, splitArguments } from './tool-arguments.rules.js';
import { RequestSchemas } from './tool-schemas.js';
import { USER_TOOLS } from './user-tools.js';

const TOOLS: readonly Tool[] = [
  ...ACCOUNT_TOOLS,
  ...PROVIDER_TOOLS,
  ...APP_TOOLS,
  ...CHANGE_TOOLS,
  ...USER_TOOLS,
  ...REPORT_TOOLS,
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
  #all: ListedTool[] | undefined;

  constructor(
    private readonly reflector: Reflector,
    private readonly apps: AppDirectoryService,
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
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
    this.#all ??= this.describeAll();
    if (isAtLeast(role, 'admin') && grant === 'manage') return this.#all;
    return this.#all.filter(({ annotations }) => annotations?.readOnlyHint);
  }

  private describeAll(): ListedTool[] {
    if (this.#app === undefined) throw new Error('the tools have no application');
    const inputs = new Set(TOOLS.flatMap(({ input, forms = [] }) => [input, ...forms]));
    const schemas = new RequestSchemas(this.#app, [...inputs]);
    return TOOLS.map((tool) => this.listed(tool, schemas));
  }

  /** The result of a call, be it a refusal; `undefined` when there is no such tool. */
  call(caller: ToolCaller, name: string, sent: Readonly<Record<string, unknown>>): Promise<CallToolResult> | undefined {
    const tool = this.#byName.get(name);
    return tool && this.answer(tool, caller, sent).catch((thrown: unknown) => this.refuse(caller, thrown));
  }

  private async answer(
    tool: Tool,
    { admin }: ToolCaller,
    sent: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult> {
    refuseCredentials(sent);
    const app = await this.appOf(tool, admin, sent);
    requirePermission(admin, this.accessOf(tool));
    const { body, summary } = await tool.answer({ admin, app, ...splitArguments(tool, sent) }, this.#find);
    return { content: [{ type: 'text', text: summary }], structuredContent: { ...body } };
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
      ...{ name, title, description: tool.description ?? descriptionOf(tool) },
      inputSchema: schemas.argumentsOf(tool),
      annotations: { readOnlyHint, destructiveHint: destructive, openWorldHint: false },
    };
  }
}

/** What the OpenAPI document says of the route. */
function descriptionOf({ controller, method }: Tool): string {
  const operation = Reflect.getMetadata('swagger/apiOperation', Reflect.get(controller.prototype, method));
  const { summary, description } = operation as { summary: string; description?: string };
  return description === undefined ? `${summary}.` : `${summary}. ${description}`;
}

function refusedResult(refusal: GatewayError): CallToolResult {
  const { code, message, status, data } = refusal;
  const next = nextStep(refusal);
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message} ${next}` }],
    structuredContent: { error: code, message, status, next, ...(data && { data }) },
  };
}
