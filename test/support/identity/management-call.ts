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
