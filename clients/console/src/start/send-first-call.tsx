import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { streamedCall } from '../apps/streamed-call';
import { Button } from '../design/button';
import { Alert } from '../design/layout';

const MESSAGE = 'Say good morning in three languages.';

/** Sends the call of the snippets from this page. */
export function SendFirstCall({
  app,
  slug,
  model,
  appKey,
}: {
  readonly app: string;
  readonly slug: string;
  readonly model: string;
  readonly appKey: string;
}) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    setProblem(undefined);
    setText('');
    try {
      const answer = await streamedCall({
        path: `/v1/apps/${app}/proxy/${slug}/v1/chat/completions`,
        body: { model, stream: true, messages: [{ role: 'user', content: MESSAGE }] },
        credential: appKey,
        onText: setText,
      });
      if (answer.status >= 400) setProblem(answer.text);
    } catch (thrown) {
      setProblem(messageOf(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button isBusy={isBusy} onClick={() => void send()}>
          Send it from here
        </Button>
      </div>
      {problem !== undefined && <Alert>{problem}</Alert>}
      {text !== undefined && problem === undefined && (
        <output className="block min-h-12 rounded-md border border-line bg-sunken p-3 break-words whitespace-pre-wrap">
          {text}
        </output>
      )}
    </div>
  );
}
