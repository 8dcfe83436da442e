import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '../../eventually.js';
import { listening } from '../../loopback.js';

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

export type ScriptedCollector = Awaited<ReturnType<typeof startCollector>>;

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | boolean>>;
}

/** Starts a collector on the loopback that takes OTLP in JSON and nothing else. */
export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
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
  const { url, close } = await listening(server);
  const collector = {
    /** Its base address, with a path. */
    url: `${url}/otlp`,
    spans,
    /** Bodies as they came. */
    bodies,
    /** Attributes of the last batch's resource. */
    resource: {} as Readonly<Record<string, string | boolean>>,
    /** How batches are answered from now on; with 200 and an empty object at first. */
    answer: { status: 200 } as { status: number; body?: string },
    /** The spans of a trace, once there are so many. */
    async spansOf(traceId: string, count: number) {
      const ofTrace = () => spans.filter((span) => span.traceId === traceId);
      await eventually(() => ofTrace().length >= count, { withinMs: 10_000 });
      return ofTrace();
    },
    close,
  };
  return collector;
}

function plain(attributes: readonly Attribute[]): Record<string, string | boolean> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));
}
