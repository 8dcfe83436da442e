import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { ClientAnswer } from './client-answer.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Script = (answer: ClientAnswer, response: ServerResponse) => unknown;

/** Runs the script as the answer to every request. @returns the port. */
async function serve(script: Script): Promise<number> {
  const server = createServer((_request, response) => void script(new ClientAnswer(response), response));
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

/** Runs the script as the answer to one request; resolves with the response head. */
async function asked(script: Script): Promise<IncomingMessage> {
  const port = await serve(script);
  return new Promise((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject).end();
  });
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  return Buffer.concat(await message.toArray()).toString();
}

describe('relayed answers', () => {
  it('whole body in the turn of its head → one answer with its length', async () => {
    const message = await asked((answer) => {
      answer.begin({ status: 201, statusText: 'Fine', headers: ['content-type', 'application/json'], bodyBytes: 2 });
      answer.write(Buffer.from('{}'));
      answer.end();
    });
    expect(message.statusCode).toBe(201);
    expect(message.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '2' });
    expect(message.headers).not.toHaveProperty('transfer-encoding');
    expect(await bodyOf(message)).toBe('{}');
  });

  it.each([256, 8 * 1024, 8 * 1024 + 1])(
    'body of %i bytes of every value, with a header beyond ASCII → byte for byte',
    async (size) => {
      const bytes = Buffer.from(Array.from({ length: size }, (_unused, at) => at % 256));
      const message = await asked((answer) => {
        answer.begin({ status: 200, statusText: 'Fine', headers: ['x-text', 'Ã¼'], bodyBytes: size });
        answer.write(bytes);
        answer.end();
      });
      expect(message.headers).toMatchObject({ 'content-length': String(size), 'x-text': 'Ã¼' });
      expect(Buffer.concat(await message.toArray())).toEqual(bytes);
    },
  );

  it('stream → the head leaves before any byte of the body, then each chunk as it arrives', async () => {
    const { promise: go, resolve: release } = Promise.withResolvers<void>();
    const pieces: string[] = [];
    const message = await asked(async (answer) => {
      answer.begin({
        status: 200,
        statusText: 'Fine',
        headers: ['content-type', 'text/event-stream'],
        bodyBytes: undefined,
      });
      await go;
      answer.write(Buffer.from('data: 1\n\n'));
      await eventually(() => pieces.length === 1, { withinMs: 10_000 });
      answer.write(Buffer.from('data: 2\n\n'));
      answer.end();
    });
    expect(message.headers['transfer-encoding']).toBe('chunked');
    message.on('data', (piece: Buffer) => pieces.push(piece.toString()));
    release();
    await new Promise((resolve) => message.once('end', resolve));
    expect(pieces).toEqual(['data: 1\n\n', 'data: 2\n\n']);
  });

  it.each([0, 1, 15, 16, 255, 256, 8 * 1024, 8 * 1024 + 1])(
    'stream with a chunk of %i bytes of every value among others → byte for byte, then complete',
    async (size) => {
      const pieces = [Buffer.from('data: 1\n\n'), Buffer.from(Array.from({ length: size }, (_unused, at) => at % 256))];
      const message = await asked((answer) => {
        answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
        for (const piece of [...pieces, ...pieces]) answer.write(piece);
        answer.end();
      });
      expect(message.headers['transfer-encoding']).toBe('chunked');
      expect(Buffer.concat(await message.toArray())).toEqual(Buffer.concat([...pieces, ...pieces]));
      expect(message.complete).toBe(true);
    },
  );

  it('HTTP/1.0 client → chunks without framing, ended by the end of the connection', async () => {
    const port = await serve((answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      answer.write(Buffer.from('data: 1\n\n'));
      answer.write(Buffer.from('data: 2\n\n'));
      answer.end();
    });
    const socket = connect(port, '127.0.0.1').end('GET / HTTP/1.0\r\n\r\n');
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer.slice(answer.indexOf('\r\n\r\n'))).toBe('\r\n\r\ndata: 1\n\ndata: 2\n\n');
  });

  it('body of known length in several chunks → every byte, without a content-length', async () => {
    const message = await asked((answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: 6 });
      answer.write(Buffer.from('abc'));
      answer.write(Buffer.from('def'));
      answer.end();
    });
    expect(message.headers).not.toHaveProperty('content-length');
    expect(await bodyOf(message)).toBe('abcdef');
  });

  it.each([
    [200, 0],
    [204, undefined],
    [304, undefined],
  ])('%i without a body → complete', async (status, bodyBytes) => {
    const message = await asked((answer) => {
      answer.begin({ status: status, statusText: 'Fine', headers: ['x-request-id', 'r1'], bodyBytes: bodyBytes });
      answer.end();
    });
    expect(message.statusCode).toBe(status);
    expect(message.headers['x-request-id']).toBe('r1');
    expect(await bodyOf(message)).toBe('');
  });

  it('header sent twice, bytes beyond ASCII → as the provider sent them', async () => {
    const message = await asked((answer) => {
      answer.begin({
        status: 200,
        statusText: 'Fine',
        headers: ['link', '<a>', 'link', '<b>', 'x-text', 'Ã¼'],
        bodyBytes: undefined,
      });
      answer.end();
    });
    expect(message.rawHeaders.slice(0, 6)).toEqual(['link', '<a>', 'link', '<b>', 'x-text', 'Ã¼']);
  });

  it('client that does not read → paused; resumed once it has read', async () => {
    const { promise: drained, resolve } = Promise.withResolvers<void>();
    let held = false;
    const message = await asked((answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      held = !answer.write(Buffer.alloc(8_000_000, 'x'));
      answer.whenDrained(() => {
        answer.end();
        resolve();
      });
    });
    expect(held).toBe(true);
    expect((await bodyOf(message)).length).toBe(8_000_000);
    await drained;
  });
});

describe('replacing an answer', () => {
  it('head that is not sent yet → replaced by another answer', async () => {
    const message = await asked((answer, response) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: ['x-provider', 'yes'], bodyBytes: undefined });
      expect(answer.takeBack()).toBe(true);
      response.writeHead(502).end('refused');
    });
    expect(message.statusCode).toBe(502);
    expect(message.headers).not.toHaveProperty('x-provider');
    expect(await bodyOf(message)).toBe('refused');
  });

  it('nothing sent → can be replaced', async () => {
    const message = await asked((answer, response) => {
      response.statusCode = answer.takeBack() ? 502 : 500;
      response.end();
    });
    expect(message.statusCode).toBe(502);
  });

  it('head already sent, alone or with a byte → too late', async () => {
    const late: boolean[] = [];
    await asked(async (answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      await Promise.resolve();
      late.push(answer.takeBack());
      answer.end();
    });
    await asked((answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      answer.write(Buffer.from('x'));
      late.push(answer.takeBack());
      answer.end();
    });
    expect(late).toEqual([false, false]);
  });
});

describe('cutting off an answer', () => {
  it('in the middle of the body → the client sees a broken answer', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const message = await asked(async (answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      answer.write(Buffer.from('half'));
      await isRead;
      answer.cut();
    });
    message.once('data', () => read());
    await expect(bodyOf(message)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('before the head is sent → no answer at all', async () => {
    const call = asked((answer) => {
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
      answer.cut();
    });
    await expect(call).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('connection already closed → starting and ending an answer has no effect', async () => {
    const failures: unknown[] = [];
    const call = asked((answer, response) => {
      response.on('error', (error) => failures.push(error));
      response.destroy();
      answer.begin({ status: 200, statusText: 'Fine', headers: [], bodyBytes: undefined });
    });
    await expect(call).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(failures).toEqual([]);
  });
});
