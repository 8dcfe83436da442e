/** The management API, called as by an operator's script. */
export interface ManagementApi {
  /** @throws Error with the response of the service if it is not a success. */
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads members of documented responses
  get(path: string): Promise<any>;
  /** @throws Error with the response of the service if it is not a success. */
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads members of documented responses
  post(path: string, body: object): Promise<any>;
}

/** Calls below `/v1/admin` with a management key. */
export function managementApi(url: string, managementKey: string): ManagementApi {
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}/v1/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  return { get: (path) => send('GET', path), post: (path, body) => send('POST', path, body) };
}
