import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { type CallProblem, problemOfAnswer } from '../apps/call-problem.rules';
import { streamedCall } from '../apps/streamed-call';
import { Button } from '../design/button';
import { MESSAGE } from './progress.rules';

/** Sends the call of the snippets from this page. */
export function SendFirstCall({
  app,
  slug,
  model,
  appKey,
  onProblem,
}: {
  readonly app: string;
  readonly slug: string;
  readonly model: string;
  readonly appKey: string;
  /** Undefined while a call is in progress and after a success. */
  readonly onProblem: (problem: CallProblem | undefined) => void;
}) {
  const [text, setText] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    onProblem(undefined);
    setText(undefined);
    try {
      const answer = await streamedCall({
        path: `/v1/apps/${app}/proxy/${slug}/v1/chat/completions`,
        body: { model, stream: true, messages: [{ role: 'user', content: MESSAGE }] },
        credential: appKey,
        onText: setText,
      });
      const problem = problemOfAnswer(answer.status, answer.text);
      if (problem !== undefined) setText(undefined);
      onProblem(problem);
    } catch (thrown) {
      setText(undefined);
      onProblem({ text: messageOf(thrown), remedy: 'none' });
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button look="primary" isBusy={isBusy} onClick={() => void send()}>
          Send it from here
        </Button>
      </div>
      {text !== undefined && (
        <output className="block min-h-12 rounded-md border border-line bg-sunken p-3 break-words whitespace-pre-wrap">
          {text}
        </output>
      )}
    </div>
  );
}
