import type { World } from '../world.js';

/** A management call whose answer may hold what the document does not name, and so is not checked against it. */
export async function uncheckedCall(
  { baseUrl, managementKey }: Pick<World, 'baseUrl' | 'managementKey'>,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${managementKey}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

/** Creates something through the management API. @throws Error when the answer is not 201. */
export async function created(
  service: Pick<World, 'baseUrl' | 'managementKey'>,
  path: string,
  body: object,
  // biome-ignore lint/suspicious/noExplicitAny: an answer whose shape other suites prove
): Promise<any> {
  const answer = await uncheckedCall(service, 'POST', path, body);
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
