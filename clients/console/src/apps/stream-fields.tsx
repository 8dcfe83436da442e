import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';

type Streams = Schemas['AppStreams'];

/** How long answers are kept. @param path where the server names it in errors. */
export function StreamFields({
  streams,
  onChange,
  path,
  empty,
}: {
  readonly streams: Streams | undefined;
  readonly onChange: (streams: Streams | undefined) => void;
  readonly path: string;
  /** What an empty field means. */
  readonly empty: string;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <NumberField
        label="Seconds after the end of an answer"
        hint={`0 to 600. ${empty}`}
        value={streams?.resume_seconds}
        onChange={(resume_seconds) =>
          onChange(resume_seconds === undefined ? undefined : { ...streams, resume_seconds })
        }
        error={problemAt(error, `${path}.resume_seconds`) ?? problemAt(error, path)}
        reason={reason}
      />
      {streams !== undefined && (
        <NumberField
          label="Bytes of an answer"
          hint="Empty: 1 MiB. At most 4 MiB."
          value={streams.max_bytes}
          onChange={(max_bytes) => {
            const { max_bytes: _before, ...rest } = streams;
            onChange(max_bytes === undefined ? rest : { ...rest, max_bytes });
          }}
          error={problemAt(error, `${path}.max_bytes`)}
          reason={reason}
        />
      )}
    </div>
  );
}
