import { clsx } from 'clsx';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

const CONTROL =
  'w-full rounded-md border bg-surface px-2.5 text-base text-ink disabled:cursor-not-allowed disabled:opacity-60';

interface Labels {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The problem of the value, as the server reports it. */
  readonly error?: string | undefined;
  /** Why it cannot be changed. */
  readonly reason?: string | undefined;
  readonly isLabelHidden?: boolean;
}

interface ControlProps {
  readonly id: string;
  readonly className: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
  readonly disabled?: boolean;
}

/** What is wrong with an input; nothing without a text. */
export function Problem({
  text,
  id,
  className,
}: {
  readonly text: string | undefined;
  readonly id?: string;
  readonly className?: string;
}) {
  if (text === undefined) return null;
  return (
    <p id={id} role="alert" className={clsx('text-xs font-medium text-bad', className)}>
      {text}
    </p>
  );
}

/** Label, hint, error and reason around a control, tied together for assistive technology. */
function Field({
  label,
  hint,
  error,
  reason,
  isLabelHidden = false,
  className,
  children,
}: Labels & { readonly className?: string; readonly children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const described = [
    hint === undefined ? undefined : `${id}-hint`,
    error === undefined ? undefined : `${id}-error`,
    reason === undefined ? undefined : `${id}-reason`,
  ].filter((part) => part !== undefined);
  return (
    <div className={clsx('flex flex-col gap-1', className)}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children({
        id,
        className: clsx(CONTROL, error === undefined ? 'border-edge' : 'border-bad'),
        ...(error === undefined ? {} : { 'aria-invalid': true as const }),
        ...(described.length === 0 ? {} : { 'aria-describedby': described.join(' ') }),
        ...(reason === undefined ? {} : { disabled: true }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      <Problem id={`${id}-error`} text={error} />
      {reason !== undefined && (
        <p id={`${id}-reason`} className="text-xs text-muted">
          {reason}
        </p>
      )}
    </div>
  );
}

type Own<T> = Labels & Omit<T, keyof Labels | 'id' | 'onChange' | 'value'>;

export function TextField({
  label,
  hint,
  error,
  reason,
  isLabelHidden = false,
  value,
  onChange,
  className,
  ...rest
}: Own<InputHTMLAttributes<HTMLInputElement>> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <Field {...{ label, hint, error, reason, isLabelHidden }} {...(className === undefined ? {} : { className })}>
      {(control) => (
        <input
          {...rest}
          {...control}
          className={clsx(control.className, 'h-9')}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  reason,
  isLabelHidden = false,
  value,
  onChange,
  className,
  ...rest
}: Own<TextareaHTMLAttributes<HTMLTextAreaElement>> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <Field {...{ label, hint, error, reason, isLabelHidden }} {...(className === undefined ? {} : { className })}>
      {(control) => (
        <textarea
          spellCheck={false}
          {...rest}
          {...control}
          className={clsx(control.className, 'py-2 font-mono text-sm')}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export interface Option<T extends string = string> {
  readonly value: T;
  readonly label: string;
}

export function SelectField<T extends string>({
  label,
  hint,
  error,
  reason,
  isLabelHidden = false,
  value,
  options,
  onChange,
  className,
  ...rest
}: Own<SelectHTMLAttributes<HTMLSelectElement>> & {
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly onChange: (value: T) => void;
}) {
  return (
    <Field {...{ label, hint, error, reason, isLabelHidden }} {...(className === undefined ? {} : { className })}>
      {(control) => (
        <select
          {...rest}
          {...control}
          className={clsx(control.className, 'h-9')}
          value={value}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface Choice<T extends string> extends Option<T> {
  readonly hint?: string;
}

/** Radio buttons as cards. */
export function Choices<T extends string>({
  legend,
  value,
  choices,
  onChange,
}: {
  readonly legend: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={clsx(
              'flex items-start gap-2.5 rounded-lg border p-3',
              choice.value === value ? 'border-accent bg-accent-soft' : 'border-line bg-surface hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name={name}
              className="mt-0.5 accent-accent"
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              aria-label={choice.label}
            />
            <span className="flex flex-col">
              <span className="font-medium">{choice.label}</span>
              {choice.hint !== undefined && <span className="text-sm text-muted">{choice.hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Checkbox({
  label,
  hint,
  checked,
  onChange,
  reason,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly reason?: string | undefined;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 accent-accent"
        checked={checked}
        disabled={reason !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div className="flex flex-col">
        <label htmlFor={id}>{label}</label>
        <span id={`${id}-hint`} className="text-sm text-muted">
          {reason ?? hint}
        </span>
      </div>
    </div>
  );
}
