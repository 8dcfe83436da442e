import { connect, type Socket } from 'node:net';

/** The bytes of one connection, and how it ended: by a plain close, or by a reset. */
export interface RawAnswer {
  /** As latin1, head and framing included. */
  readonly text: string;
  readonly end: 'closed' | 'reset';
}

/** A connection of a client that speaks HTTP down to the bytes. */
export interface RawConnection {
  readonly socket: Socket;
  /** What has come so far. */
  text(): string;
  /** Resolves when the connection has ended. */
  readonly answer: Promise<RawAnswer>;
}

/** Sends bytes to a service and reads until its connection ends; the client itself leaves its side open. */
export function openRaw(baseUrl: string, bytes: string | Buffer): RawConnection {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(bytes));
  const parts: Buffer[] = [];
  const text = () => Buffer.concat(parts).toString('latin1');
  socket.on('data', (part) => parts.push(part));
  const answer = new Promise<RawAnswer>((resolve) => {
    const ended = (end: RawAnswer['end']) => {
      socket.destroy();
      resolve({ text: text(), end });
    };
    socket.on('error', () => ended('reset'));
    socket.on('end', () => ended('closed'));
  });
  return { socket, text, answer };
}
