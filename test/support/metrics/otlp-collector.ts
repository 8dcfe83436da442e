import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.js';

/** A span as the collector got it, its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, string | boolean>>;
}

export interface ScriptedCollector {
  /** Its base address, with a path. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Bodies as they came. */
  readonly bodies: string[];
  /** Attributes of the last batch's resource. */
  resource: Readonly<Record<string, string | boolean>>;
  /** How batches are answered from now on; with 200 and an empty object at first. */
  answer: { status: number; body?: string };
  /** The spans of a trace, once there are so many. */
  spansOf(traceId: string, count: number): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | boolean>>;
}

/** Starts a collector on the loopback that takes OTLP in JSON and nothing else. */
export async function startCollector(port = 0): Promise<ScriptedCollector> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const isOtlp =
      request.method === 'POST' &&
      request.url === '/otlp/v1/traces' &&
      request.headers['content-type'] === 'application/json';
    const { status, body: answer = '{}' } = isOtlp ? collector.answer : { status: 404 };
    if (status === 200) {
      bodies.push(body);
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        collector.resource = plain(resource.attributes);
        for (const scope of scopeSpans)
          for (const span of scope.spans) spans.push({ ...span, attributes: plain(span.attributes) });
      }
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const collector: ScriptedCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/otlp`,
    spans,
    bodies,
    resource: {},
    answer: { status: 200 },
    async spansOf(traceId, count) {
      const ofTrace = () => spans.filter((span) => span.traceId === traceId);
      await eventually(() => ofTrace().length >= count, { withinMs: 10_000 });
      return ofTrace();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return collector;
}

function plain(attributes: readonly Attribute[]): Record<string, string | boolean> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));
}
