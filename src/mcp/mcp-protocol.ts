import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { VERSION } from '../common/version.js';
import { GUIDE, GUIDE_RESOURCE, INSTRUCTIONS } from './guide.js';
import type { ToolCaller, Tools } from './tools/tools.service.js';

const IDENTITY = { name: 'gateway', title: 'AI gateway', version: VERSION };
const OPTIONS = { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS };
/** The request headers that the protocol reads. */
const PROTOCOL_HEADER = /^mcp-/;
/** Every answer is JSON, whatever else a client accepts. */
const ACCEPTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface McpAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON; empty for a notification. */
  readonly body: string;
}

/**
 * Answers protocol messages, each with its own server instance: no sessions, no state, no event streams. It speaks the
 * revision 2026-07-28, whose requests name it, and those of 2024 and 2025, which begin with a handshake.
 *
 * Source: docs/reference/management-api.md#mcp-endpoint.
 */
export class McpProtocol {
  constructor(private readonly tools: Tools) {}

  /** @param message a JSON object. */
  async answer(caller: ToolCaller, message: object): Promise<McpAnswer> {
    const request = webRequest(caller.request.headers);
    const response = (await isLegacyRequest(request, message))
      ? await this.answerHandshaken(caller, request, message)
      : await this.answerNamed(caller, request, message);
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, body: await response.text() };
  }

  private async answerHandshaken(caller: ToolCaller, request: Request, parsedBody: object): Promise<Response> {
    const server = this.serverFor(caller);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  /** Without subscriptions nothing of this revision is streamed. */
  private answerNamed(caller: ToolCaller, request: Request, parsedBody: object): Promise<Response> {
    const handler = createMcpHandler(() => this.serverFor(caller), { legacy: 'reject', maxSubscriptions: 0 });
    return handler.fetch(request, { parsedBody });
  }

  private serverFor(caller: ToolCaller): Server {
    const server = new Server(IDENTITY, OPTIONS);
    server.setRequestHandler('tools/list', () => ({ tools: this.tools.listFor(caller.admin) }));
    server.setRequestHandler('tools/call', ({ params }) => {
      const result = this.tools.call(caller, params.name, params.arguments ?? {});
      if (result === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool.');
      return result;
    });
    server.setRequestHandler('resources/list', () => ({ resources: [GUIDE_RESOURCE] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      if (uri !== GUIDE_RESOURCE.uri) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: GUIDE_RESOURCE.mimeType, text: GUIDE }] };
    });
    return server;
  }
}

/** Without the caller's credential and cookies, which the protocol does not need. */
function webRequest(headers: ToolCaller['request']['headers']): Request {
  const own = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    PROTOCOL_HEADER.test(name) && typeof value === 'string' ? [[name, value]] : [],
  );
  return new Request('http://localhost/mcp', { method: 'POST', headers: { ...Object.fromEntries(own), ...ACCEPTED } });
}
