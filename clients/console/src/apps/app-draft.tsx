import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { UNREADABLE } from '../design/dialog';
import { LOSES_NOTHING } from '../design/form-fields';
import { ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { useToast } from '../design/toast';
import { DRAFT, Kept, parsedOf } from '../session/kept';
import { useReadOnlyReason, useSession } from '../shell/session';
import type { AppConfig } from './app-config.rules';
import { APP_TABS, type AppTab } from './app-tabs';
import { changedTabs } from './changed-tabs.rules';
import { ConflictDialog } from './conflict-dialog';
import { type Draft, isSame, type Json, merged } from './draft-merge.rules';

type AppAnswer = Schemas['AppResponse'];

interface AppDraft {
  readonly id: string;
  /** As it was loaded. */
  readonly loaded: AppAnswer;
  readonly draft: Draft;
  readonly change: (change: Partial<Draft>) => void;
  readonly changeConfig: (change: Partial<AppConfig>) => void;
  readonly isDirty: boolean;
  /** The parts of the page that hold unsaved changes. */
  readonly changed: readonly AppTab[];
  readonly isSaving: boolean;
  readonly save: () => Promise<void>;
  /**
   * Changes the configuration and saves everything. In a conflict the person is asked, and the change stays in the
   * draft.
   */
  readonly saveConfig: (change: Partial<AppConfig>) => Promise<Outcome>;
  readonly discard: () => void;
  /** Why the last save was refused. */
  readonly error: unknown;
}

type Outcome = 'saved' | 'conflict' | 'refused';

interface Stored {
  readonly draft: Draft;
  readonly base: Draft;
  readonly revision: number;
}

/** A field whose text is not a valid value. */
const UNREADABLE_HERE = `#content ${UNREADABLE}`;
/** The first field that the server refused; a dialog above the page shows its own. */
const REFUSED_HERE = 'body:not(:has([role=dialog])) #content [aria-invalid=true]';

const AppDraftContext = createContext<AppDraft | undefined>(undefined);

export const draftOf = ({ app: { name, status, config } }: AppAnswer): Draft => ({
  name,
  status,
  config: config as AppConfig,
});

/** Holds the unsaved changes of one application for all its tabs; a reload of the page keeps them. */
export function AppDraftProvider({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const query = useQuery(queries.app(id));
  return (
    <Loaded query={query} rows={10}>
      {(loaded) => <Editor id={id} loaded={loaded} children={children} />}
    </Loaded>
  );
}

function Editor({
  id,
  loaded,
  children,
}: {
  readonly id: string;
  readonly loaded: AppAnswer;
  readonly children: ReactNode;
}) {
  const { user } = useSession();
  const kept = useMemo(() => new Kept(sessionStorage, user.id), [user.id]);
  const name = DRAFT + id;
  const client = useQueryClient();
  const say = useToast();
  const [stored, setStored] = useState<Stored>(() => restored(kept.get(name)) ?? fresh(loaded));
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const [newest, setNewest] = useState<AppAnswer>();
  const isDirty = !isSame(asJson(stored.draft), asJson(stored.base));
  useEffect(() => {
    if (isDirty) kept.set(name, JSON.stringify(stored));
    else {
      kept.remove(name);
      if (stored.revision !== loaded.app.revision) setStored(fresh(loaded));
    }
  }, [isDirty, stored, kept, name, loaded]);
  useWarningBeforeUnload(isDirty);
  useEffect(() => {
    if (error !== undefined) document.querySelector<HTMLElement>(REFUSED_HERE)?.focus();
  }, [error]);
  useWordAboutDraft(() => kept.get(name) !== null, stored.draft.name, say);
  const change = useCallback((members: Partial<Draft>) => {
    setStored((before) => ({ ...before, draft: { ...before.draft, ...members } }));
  }, []);
  const changeConfig = useCallback((members: Partial<AppConfig>) => {
    setStored((before) => {
      const config = withoutAbsent({ ...before.draft.config, ...members });
      return { ...before, draft: { ...before.draft, config } };
    });
  }, []);
  const put = async (draft: Draft, revision: number, sent = stored.draft): Promise<Outcome> => {
    setSaving(true);
    setError(undefined);
    try {
      const params = { path: { app: id } };
      const saved = await read(api.PUT('/v1/admin/apps/{app}', { params, body: { ...draft, revision } }));
      kept.remove(name);
      client.setQueryData(queries.app(id).queryKey, saved);
      void client.invalidateQueries({ queryKey: ['apps'] });
      // Users and figures depend on the configuration; the application itself has just arrived.
      void client.invalidateQueries({ queryKey: ['app', id], predicate: ({ queryKey }) => queryKey.length > 2 });
      setStored((now) => rebased(sent, now.draft, saved));
      setNewest(undefined);
      say('Saved. Changes apply within a second.');
      return 'saved';
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.code === 'app_revision_conflict')) {
        setError(thrown);
        return 'refused';
      }
      await client.fetchQuery({ ...queries.app(id), staleTime: 0 }).then(setNewest, setError);
      return 'conflict';
    } finally {
      setSaving(false);
    }
  };
  const value = useMemo(
    () => ({
      ...{ id, loaded, draft: stored.draft, change, changeConfig, isDirty, isSaving, error },
      changed: changedTabs(stored.base, stored.draft),
      save: async () => {
        const field = document.querySelector<HTMLElement>(UNREADABLE_HERE);
        if (field === null) {
          await put(stored.draft, stored.revision);
          return;
        }
        // The text shown there is not in the draft and would not be saved.
        field.focus();
        setError(new Error('A field has a value that cannot be read. Correct it first.'));
      },
      saveConfig: (members: Partial<AppConfig>) => {
        const config = withoutAbsent({ ...stored.draft.config, ...members });
        const draft = { ...stored.draft, config };
        setStored({ ...stored, draft });
        return put(draft, stored.revision, draft);
      },
      discard: () => {
        kept.remove(name);
        setError(undefined);
        setStored(fresh(loaded));
      },
    }),
    [id, loaded, stored, kept, isDirty, isSaving, error],
  );
  return (
    <AppDraftContext value={value}>
      {children}
      <SaveBar />
      {newest !== undefined && (
        <ConflictDialog
          // Another save by someone else asks again: an answer to an older question has no effect.
          key={newest.app.revision}
          base={stored.base}
          mine={stored.draft}
          theirs={draftOf(newest)}
          error={error}
          isSaving={isSaving}
          onClose={() => setNewest(undefined)}
          onMerge={async (draft) => {
            await put(draft, newest.app.revision);
          }}
        />
      )}
    </AppDraftContext>
  );
}

export function useAppDraft(): AppDraft {
  const draft = useContext(AppDraftContext);
  if (draft === undefined) throw new Error('No application around this.');
  return draft;
}

/** Fields of the draft: Enter in one of them saves it. */
export function DraftForm({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  const { isDirty, isSaving, save } = useAppDraft();
  const reason = useReadOnlyReason();
  return (
    <form
      {...LOSES_NOTHING}
      noValidate
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty && !isSaving && reason === undefined) void save();
      }}
    >
      {children}
      {/* Without one, Enter submits only a form of one field. */}
      <button type="submit" hidden />
    </form>
  );
}

function SaveBar() {
  const { id, changed, isDirty, isSaving, save, discard, error } = useAppDraft();
  const reason = useReadOnlyReason();
  if (!isDirty) return null;
  return (
    <div className="sticky bottom-4 z-10 mt-6 flex flex-col gap-2 rounded-lg border border-line bg-surface p-3 shadow-lg">
      {error !== undefined && <ErrorAlert error={error} />}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <span className="text-sm text-muted" role="status">
          You have unsaved changes.{' '}
          {changed.map((tab) => (
            <Link key={tab} href={`/apps/${id}/${tab}`} className="mr-2 text-accent underline">
              {APP_TABS[tab]}
            </Link>
          ))}
        </span>
        <div className="flex gap-2">
          <Button onClick={discard}>Discard</Button>
          <Button look="primary" isBusy={isSaving} reason={reason} onClick={() => void save()}>
            Save
          </Button>
        </div>
      </div>
    </div>
  );
}

function fresh(answer: AppAnswer): Stored {
  const draft = draftOf(answer);
  return { draft, base: draft, revision: answer.app.revision };
}

/** What is stored now, with what was typed while it was being stored. @param sent the draft as it was then. */
function rebased(sent: Draft, now: Draft, saved: AppAnswer): Stored {
  const { base, revision } = fresh(saved);
  return { draft: merged(asJson(sent), asJson(now), asJson(base)) as unknown as Draft, base, revision };
}

const asJson = (draft: Draft) => draft as unknown as Json;

function restored(text: string | null): Stored | undefined {
  const stored = parsedOf(text);
  return stored === undefined ? undefined : (stored as Stored);
}

/** A member that was set to undefined is absent: null and absent mean different things to the API. */
function withoutAbsent(config: AppConfig): AppConfig {
  return Object.fromEntries(Object.entries(config).filter(([, member]) => member !== undefined)) as AppConfig;
}

/** Leaving the application keeps unsaved changes and reports it. */
function useWordAboutDraft(isKept: () => boolean, name: string, say: (text: string) => void): void {
  const left = useRef({ isKept, name });
  left.current = { isKept, name };
  useEffect(
    () => () => {
      if (left.current.isKept()) say(`Your unsaved changes of ${left.current.name} are kept in this tab.`);
    },
    [say],
  );
}

function useWarningBeforeUnload(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isDirty]);
}
