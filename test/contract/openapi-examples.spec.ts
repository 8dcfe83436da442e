import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { newOrganization } from '../support/accounts/people.js';
import type { ApiClient } from '../support/api-client.js';
import { OpenApiCheck } from '../support/openapi/openapi-check.js';
import { json } from '../support/proxy/upstream-scripts.js';
import { type GatewayWorld, startGatewayWorld } from '../support/upstream-gateway-world.js';

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Media>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
}

/** One body of the document: `createApp 201`, `createApp request`. */
interface Body {
  readonly name: string;
  readonly pointer: readonly string[];
  readonly media: Media;
}

const WITHOUT_SHARED_ERRORS = new Set(['getHealth', 'getConsoleCapabilities', 'getCliCapabilities']);

let stage: GatewayWorld;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  stage = await startGatewayWorld({ ALLOW_ADDITIONAL_REGISTRATIONS: 'true', REDIS_URL: '' });
  stage.edge.script(json(200, { data: [] }));
  document = JSON.parse(await (await fetch(`${stage.world.baseUrl}/openapi.json`)).text());
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'api');
});

afterAll(() => stage.stop());

function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

function bodies(): Body[] {
  return operations().flatMap(({ path, method, operation: { operationId, requestBody, responses } }) => {
    const places = [
      { name: `${operationId} request`, steps: ['requestBody'], content: requestBody?.content },
      ...Object.entries(responses).map(([status, { content }]) => {
        return { name: `${operationId} ${status}`, steps: ['responses', status], content };
      }),
    ];
    return places.flatMap(({ name, steps, content = {} }) =>
      Object.entries(content).map(([type, media]) => {
        return {
          name: `${name} ${type}`,
          pointer: ['paths', path, method, ...steps, 'content', type, 'schema'],
          media,
        };
      }),
    );
  });
}

function problemsOf({ name, pointer, media }: Body): string[] {
  if (!Object.hasOwn(media, 'example')) return [`${name}: no example`];
  const place = pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
  const validate = ajv.getSchema(`api#/${place.join('/')}`);
  if (validate === undefined) return [`${name}: no schema`];
  return validate(media.example) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`];
}

describe('examples of the OpenAPI document', () => {
  it('request and response bodies, refusals included → each has an example that its schema accepts', () => {
    const judged = bodies().filter(({ name }) => !name.includes(' default '));
    expect(judged.length).toBeGreaterThan(200);
    expect(judged.flatMap(problemsOf)).toEqual([]);
  });

  it('events of webhooks → each has an example of its type that its schema accepts', () => {
    const check = OpenApiCheck.of(document);
    const examples = Object.entries(document.webhooks).map(([type, { post }]) => {
      return { type, example: post.requestBody?.content['application/json']?.example as { type: string } };
    });
    expect(examples.length).toBeGreaterThan(40);
    for (const { type, example } of examples) {
      check.event(example);
      expect(example.type).toBe(type);
    }
  });

  it('operations → each names the shared errors, with three exceptions', () => {
    const wrong = operations().filter(({ operation: { operationId, responses } }) => {
      const named = ['400', '401', '403', '404'].filter((status) => responses[status] !== undefined);
      return named.length !== (WITHOUT_SHARED_ERRORS.has(operationId) ? 0 : 4);
    });
    expect(wrong.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  it('creations: sending the example → created', async () => {
    const { world } = stage;
    const { client } = (await newOrganization(world)).owner;
    const creations = operations().filter(({ operation }) => operation.responses['201'] !== undefined);
    expect(creations.length).toBeGreaterThan(6);
    const app = await exampleSent(client, '/v1/admin/apps');
    for (const { path } of creations) {
      const answer = await exampleSent(client, path.replace('{app}', app.body.app.id), path);
      expect([path, answer.status, answer.text]).toEqual([path, 201, expect.any(String)]);
    }
  });

  it('registration: sending the example without the invitation → registered', async () => {
    const answer = await exampleSent(stage.world.as(undefined), '/v1/auth/sign-up/email');
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  });
});

function exampleSent(client: ApiClient, path: string, described = path) {
  return client.post(path, document.paths[described]?.post?.requestBody?.content['application/json']?.example);
}
