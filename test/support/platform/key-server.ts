import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../loopback.js';

export type KeyServer = Awaited<ReturnType<typeof startKeyServer>>;

interface Question {
  readonly text: string;
  readonly context: unknown;
}

const KEEP_ALIVE_MS = 300_000;

/** A stand-in for an HSM: it remembers what it sealed, and opens it for the same context only. */
export async function startKeyServer() {
  const sealed = new Map<string, Question>();
  const asked: string[] = [];
  let isBroken = false;
  const answer = (action: string, question: Question, response: ServerResponse): void => {
    if (isBroken) response.writeHead(503).end();
    else if (action === 'seal') {
      const handle = `sealed-${sealed.size + 1}`;
      sealed.set(handle, question);
      response.writeHead(200).end(handle);
    } else {
      const held = sealed.get(question.text);
      const fits = held !== undefined && JSON.stringify(held.context) === JSON.stringify(question.context);
      response.writeHead(fits ? 200 : 422).end(fits ? held.text : '');
    }
  };
  const server = createServer(async (request, response) => {
    const question = await text(request);
    const action = (request.url ?? '').slice(1);
    asked.push(action);
    answer(action, JSON.parse(question), response);
  });
  // Longer than any suite: a connection that ends was ended by its client.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const { url, openConnections, close } = await listening(server);
  return {
    ...{ url, openConnections, close },
    /** Its requests, in order: `seal` or `open`. */
    asked,
    /** From now on everything is answered 503. */
    breakDown: () => {
      isBroken = true;
    },
    repair: () => {
      isBroken = false;
    },
  };
}
