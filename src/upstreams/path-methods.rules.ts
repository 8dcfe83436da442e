/** Methods that a policy may allow on a provider path. */
export const PATH_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type PathMethod = (typeof PATH_METHODS)[number];

const POST_ONLY: ReadonlySet<string> = new Set<PathMethod>(['POST']);
const GET_ONLY: ReadonlySet<string> = new Set<PathMethod>(['GET']);
const WITHOUT_BODY: ReadonlySet<string> = new Set<PathMethod>(['GET', 'DELETE']);

/** Lists of models and single models: public metadata. */
const MODEL_FACTS =
  /^(?:(?:openai\/|inference\/)?v1|v1alpha|v1beta|v1beta\/openai)\/models(?:\/(?:\{model\}|[^/:]+))?$|^models$/;

/** Default methods of a path: GET for model metadata, else POST. */
export function methodsOfPath(path: string): ReadonlySet<string> {
  return MODEL_FACTS.test(path) ? GET_ONLY : POST_ONLY;
}

/** Whether a request of this method has a body. */
export function takesBody(method: string): boolean {
  return !WITHOUT_BODY.has(method);
}
