import type { Transport } from './resumable-stream.js';

/** The APIs that React Native and browsers share. */
interface Xhr {
  readonly readyState: number;
  readonly status: number;
  readonly responseText: string;
  onreadystatechange: (() => void) | null;
  onprogress: (() => void) | null;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  ontimeout: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: string | null): void;
}

declare const XMLHttpRequest: new () => Xhr;

/** React Native's `fetch` may not stream; `XMLHttpRequest` shows text as it arrives. */
export const xhr: Transport = ({ method, url, headers, body }, { onHead, onText }) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.onreadystatechange = () => {
      if (request.readyState === 2) onHead(request.status, (name) => request.getResponseHeader(name));
    };
    request.onprogress = () => onText(request.responseText);
    request.onload = () => {
      onText(request.responseText);
      resolve(true);
    };
    request.onerror = request.ontimeout = request.onabort = () => resolve(false);
    request.send(body ?? null);
  });
