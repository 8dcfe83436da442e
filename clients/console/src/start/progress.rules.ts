/** The progress of a person in the guided start of an organization. */
export interface StartProgress {
  readonly providerSlug?: string;
  readonly model?: string;
  readonly appId?: string;
  /** The newest event of the application when it was chosen: the first call comes after it. */
  readonly afterId?: number;
  /** Whether a call has succeeded. */
  readonly isFinished?: boolean;
}

export const STEPS = ['provider', 'application', 'call'] as const;
export type Step = (typeof STEPS)[number];

/** The first step that is not done. */
export function stepOf({ providerSlug, appId }: StartProgress): Step {
  if (providerSlug === undefined) return 'provider';
  return appId === undefined ? 'application' : 'call';
}

/** Progress without what has been deleted since. */
export function stillThere(
  progress: StartProgress,
  slugs: readonly string[],
  appIds: readonly string[],
): StartProgress {
  const { appId, afterId: _afterId, ...provider } = progress;
  if (provider.providerSlug === undefined || !slugs.includes(provider.providerSlug)) return {};
  return appId !== undefined && appIds.includes(appId) ? progress : provider;
}

/** Whether the guide is in progress: started, and no call has succeeded. */
export function isUnderWay({ providerSlug, isFinished }: StartProgress): boolean {
  return providerSlug !== undefined && isFinished !== true;
}

/** A slug for another provider of a type: the type, or the type and a number. */
export function freeSlug(type: string, slugs: readonly string[]): string {
  for (let number = 1; ; number++) {
    const slug = number === 1 ? type : `${type}-${number}`;
    if (!slugs.includes(slug)) return slug;
  }
}

/** The values of a first call. */
export interface FirstCall {
  readonly origin: string;
  readonly app: string;
  readonly slug: string;
  readonly model: string;
  /** The key, or a placeholder for it. */
  readonly key: string;
}

/** The prompt of the first call. */
export const MESSAGE = 'Say good morning in three languages.';

/** The same streamed call in four languages. */
export function firstCallSnippets({ origin, app, slug, model, key }: FirstCall): readonly {
  readonly value: string;
  readonly label: string;
  readonly code: string;
}[] {
  const base = `${origin}/v1/apps/${app}/proxy/${slug}/v1`;
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: MESSAGE }] });
  return [
    {
      value: 'curl',
      label: 'curl',
      code: `curl -N ${base}/chat/completions \\
  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
  -d '${body}'`,
    },
    {
      value: 'node',
      label: 'Node',
      code: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' });
const stream = await client.chat.completions.create({
  model: '${model}',
  stream: true,
  messages: [{ role: 'user', content: '${MESSAGE}' }],
});
for await (const piece of stream) process.stdout.write(piece.choices[0]?.delta?.content ?? '');`,
    },
    {
      value: 'python',
      label: 'Python',
      code: `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${key}")
stream = client.chat.completions.create(
    model="${model}",
    stream=True,
    messages=[{"role": "user", "content": "${MESSAGE}"}],
)
for piece in stream:
    if piece.choices and piece.choices[0].delta.content:
        print(piece.choices[0].delta.content, end="", flush=True)`,
    },
    {
      value: 'swift',
      label: 'Swift',
      code: `import Foundation

var request = URLRequest(url: URL(string: "${base}/chat/completions")!)
request.httpMethod = "POST"
request.setValue("Bearer ${key}", forHTTPHeaderField: "Authorization")
request.setValue("application/json", forHTTPHeaderField: "Content-Type")
request.httpBody = Data(#"${body}"#.utf8)
let (bytes, _) = try await URLSession.shared.bytes(for: request)
for try await line in bytes.lines { print(line) }`,
    },
  ];
}
