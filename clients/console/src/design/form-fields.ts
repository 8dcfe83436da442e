type FormField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** On a form whose text is not needed after it closes, such as a confirmation. */
export const LOSES_NOTHING = { 'data-loses-nothing': '' } as const;
const FIELD = ':is(#content, [role=dialog]) form:not([data-loses-nothing]) :is(input, select, textarea)';

/** A form with a refusal: the sent values were not stored. */
const PROBLEM = '[role=alert], [aria-invalid=true]';

/** The fields of forms that had the focus, with the values that they had then, and those that were sent. */
export class FormFields {
  readonly #before = new Map<FormField, string>();
  readonly #sent = new Map<FormField, string>();

  remember(target: EventTarget | null): void {
    if (!(target instanceof Element) || !target.matches(FIELD)) return;
    const field = target as FormField;
    if (!this.#before.has(field)) this.#before.set(field, stateOf(field));
  }

  /** Their current values may be lost. */
  settle(): void {
    for (const field of this.#before.keys()) this.#before.set(field, stateOf(field));
  }

  /** A form is sent: its values are stored, unless the form shows a refusal. */
  send(form: EventTarget | null): void {
    for (const field of this.#before.keys()) {
      if (field.form === form) this.#sent.set(field, stateOf(field));
    }
  }

  get haveChanged(): boolean {
    for (const field of this.#before.keys()) {
      if (field.isConnected) continue;
      this.#before.delete(field);
      this.#sent.delete(field);
    }
    return [...this.#before].some(([field, before]) => stateOf(field) !== before && !this.#isKept(field));
  }

  #isKept(field: FormField): boolean {
    return this.#sent.get(field) === stateOf(field) && field.form?.querySelector(PROBLEM) === null;
  }
}

function stateOf(field: FormField): string {
  const isTicked = field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type);
  return isTicked ? String(field.checked) : field.value;
}
