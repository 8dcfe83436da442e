import { request } from 'node:http';
import type { Transport } from '../../../examples/resume/resumable-stream.js';

/**
 * Sends requests of the resuming client, and loses the connection of each answer after some bytes of its body.
 *
 * @param cutAfter asked for each answer; undefined lets it come to its end.
 */
export function cuttingTransport(cutAfter: (answer: number) => number | undefined): Transport {
  let answers = 0;
  return ({ method, url, headers, body }, { onHead, onText }) =>
    new Promise((resolve) => {
      const left = cutAfter(answers++);
      const call = request(url, { method, headers, agent: false }, (message) => {
        onHead(message.statusCode ?? 0, (name) => message.headers[name]?.toString() ?? null);
        const decoder = new TextDecoder();
        let [text, bytes] = ['', 0];
        message.on('error', () => resolve(false));
        message.on('close', () => resolve(message.complete && (left === undefined || bytes <= left)));
        message.on('data', (piece: Buffer) => {
          const taken = left === undefined ? piece : piece.subarray(0, Math.max(0, left - bytes));
          bytes += piece.length;
          text += decoder.decode(taken, { stream: true });
          onText(text);
          if (left !== undefined && bytes >= left) message.destroy();
        });
        if (left === 0) message.destroy();
      });
      call.on('error', () => resolve(false));
      call.end(body);
    });
}
