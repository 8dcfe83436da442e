import type { OpenAPIObject } from '@nestjs/swagger';
import { TestEventData } from '../../webhooks/dto/event-data.js';
import { EVENT_TYPES, type EventType, TEST_EVENT } from '../../webhooks/event-types.js';
import { ExampleMaker, type ExampleSource } from './openapi-examples.rules.js';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Components = NonNullable<OpenAPIObject['components']>;

const TESTED: EventType = { means: 'A person or key requested a test of the webhook.', data: TestEventData };
const TYPES = Object.entries({ ...EVENT_TYPES, [TEST_EVENT]: TESTED });

/** The classes of the events' data. */
export const EVENT_DATA = [...new Set(TYPES.map(([, { data }]) => data))];

/** Headers of each delivery. Source: docs/reference/webhooks.md#deliveries. */
const HEADERS: NonNullable<Components['parameters']> = {
  WebhookId: header('webhook-id', 'Of the event; the same at each attempt.', { type: 'string' }),
  WebhookTimestamp: header('webhook-timestamp', 'Unix time of the attempt, in seconds.', { type: 'integer' }),
  WebhookSignature: header('webhook-signature', '`v1,` and a signature; several are separated by spaces.', {
    type: 'string',
  }),
};

const RESPONSES = {
  '2XX': { description: 'The event is delivered.' },
  '410': { description: 'The webhook is disabled.' },
  default: { description: 'The event is sent again later; a redirect is not followed.' },
};

/** Describes what the gateway sends to webhooks: an operation for each type of event, with an example. */
export function addWebhooks(document: OpenAPIObject): OpenAPIObject {
  const schemas: NonNullable<Components['schemas']> = document.components?.schemas ?? {};
  for (const { name } of EVENT_DATA) schemas[eventSchema(name)] = envelopeOf(name);
  document.components = { ...document.components, schemas, parameters: HEADERS };
  document.webhooks = Object.fromEntries(TYPES.map(([type, event]) => [type, sending(type, event)]));
  return document;
}

/** Adds an example to each event. */
export function addEventExamples({ webhooks = {} }: OpenAPIObject, source: ExampleSource): void {
  const maker = new ExampleMaker(source, 'answer');
  for (const [type, { data }] of TYPES) {
    const item = webhooks[type];
    const body = item && 'post' in item ? item.post?.requestBody : undefined;
    const media = body && 'content' in body ? body.content['application/json'] : undefined;
    if (media === undefined) throw new Error(`The event ${type} has no body.`);
    media.example = Object.assign({}, maker.of({ $ref: reference(eventSchema(data.name)) }), { type });
  }
}

function sending(type: string, { means, data }: EventType): Webhooks[string] {
  const schema = {
    allOf: [{ $ref: reference(eventSchema(data.name)) }],
    properties: { type: { type: 'string', enum: [type] } },
  };
  return {
    post: {
      operationId: `on${type.split(/[._]/).map(capitalized).join('')}`,
      tags: ['Admin webhooks'],
      summary: means,
      security: [],
      parameters: Object.keys(HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: RESPONSES,
    },
  };
}

/** `BudgetEventData` → `BudgetEvent`. */
function eventSchema(data: string): string {
  return data.replace(/Data$/, '');
}

function envelopeOf(data: string): NonNullable<Components['schemas']>[string] {
  return {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string' },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
      data: { $ref: reference(data) },
    },
  };
}

function header(name: string, description: string, schema: { type: string }) {
  return { name, in: 'header', required: true, description, schema } as const;
}

function reference(schema: string): string {
  return `#/components/schemas/${schema}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
