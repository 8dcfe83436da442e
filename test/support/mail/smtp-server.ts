import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually } from '../eventually.js';

/** A mail as a server got it. */
interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header lines, unfolded. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly text: string;
}

/**
 * `stall`: no answer to the recipient; `drop`: the connection is closed there; a number: the status of the recipient.
 */
type Behaviour = 'take' | 'stall' | 'drop' | number;

/** An SMTP server as RFC 5321 has it, as far as a client of ours goes. */
export interface SmtpTestServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Recipients that were named, taken or not. */
  readonly named: readonly string[];
  behave(next: Behaviour): void;
  /** The mails to an address once there are `count`. */
  until(to: string, count: number): Promise<readonly ReceivedMail[]>;
  stop(): Promise<void>;
}

export async function startSmtpServer(port = 0): Promise<SmtpTestServer> {
  const received: ReceivedMail[] = [];
  const named: string[] = [];
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = 'take';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    let [from, to, data]: [string, string[], string | undefined] = ['', [], undefined];
    let rest = '';
    const take = (line: string) => {
      if (data !== undefined) {
        if (line !== '.') data += `${line.replace(/^\./, '')}\r\n`;
        else {
          received.push(parsed(from, to, data));
          [from, to, data] = ['', [], undefined];
          say('250 taken');
        }
        return;
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') say('250 test');
      else if (verb === 'MAIL') {
        from = addressIn(line);
        say('250 ok');
      } else if (verb === 'RCPT') {
        named.push(addressIn(line));
        if (behaviour === 'drop') socket.destroy();
        else if (behaviour === 'take') {
          to.push(addressIn(line));
          say('250 ok');
        } else if (behaviour !== 'stall') say(`${behaviour} no`);
      } else if (verb === 'DATA') {
        data = '';
        say('354 go on');
      } else if (verb === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    };
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
    say('220 test');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const of = (address: string) => received.filter(({ to }) => to.includes(address));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    named,
    behave(next) {
      behaviour = next;
    },
    async until(address, count) {
      await eventually(() => of(address).length >= count, { withinMs: 60_000 });
      return of(address);
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const addressIn = (line: string) => /<(.*)>/.exec(line)?.[1] ?? '';

function parsed(from: string, to: readonly string[], data: string): ReceivedMail {
  const [head = '', ...body] = data.split('\r\n\r\n');
  const headers = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const encoding = headers
    .find((line) => /^content-transfer-encoding:/i.test(line))
    ?.split(':')[1]
    ?.trim();
  return { from, to, headers, text: decoded(body.join('\r\n\r\n'), encoding).replaceAll('\r\n', '\n') };
}

function decoded(text: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return text;
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
