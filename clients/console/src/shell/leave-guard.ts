import { useSyncExternalStore } from 'react';
import { FormFields } from '../design/form-fields';

/** Asks the person; `leave` continues the navigation. */
type Ask = (leave: () => void) => void;
type Navigate = (to: string, options?: { readonly replace?: boolean }) => void;

/**
 * Sits between the router and the browser history: leaving a page with typed text by a link, Back or a shortcut needs a
 * confirmation. A history step cannot be stopped, so it is reverted without notifying the router: each entry is
 * numbered to know how far it went. A change of only the search stays on the page.
 */
export class LeaveGuard {
  readonly #fields = new FormFields();
  /** The number of the entry that is shown. */
  #place: number = Number(history.state?.place ?? 0);
  /** The location that the router shows. A reverted step changes the address briefly, but not this. */
  #path = location.pathname;
  readonly #followers = new Set<() => void>();
  /** A reverted step, in entries; undefined without one. */
  #takenBack: number | undefined;
  /** The person has agreed to the step that comes next. */
  #isAgreed = false;

  constructor(private readonly ask: Ask) {}

  /** Watches until the returned function is called. */
  watch(): () => void {
    const controller = new AbortController();
    const options = { capture: true, signal: controller.signal };
    addEventListener('focusin', ({ target }) => this.#fields.remember(target), options);
    addEventListener('submit', ({ target }) => this.#fields.send(target), options);
    addEventListener('popstate', (event) => this.#step(event), options);
    addEventListener('pushState', () => this.#enter(this.#place + 1), options);
    addEventListener('replaceState', () => this.#enter(this.#place), options);
    this.#enter(this.#place);
    return () => controller.abort();
  }

  /** Whether text would be lost. */
  get hasText(): boolean {
    return this.#fields.haveChanged;
  }

  /** Typed text may be lost. */
  readonly forget = (): void => this.#fields.settle();

  /** The router's hook. */
  readonly useLocation = (): [string, Navigate] => [useSyncExternalStore(this.#follow, () => this.#path), this.#push];

  /** Around each navigation of the router. */
  readonly aroundNavigation = (navigate: Navigate, to: string, options?: { readonly replace?: boolean }): void => {
    const isElsewhere = new URL(to, location.href).pathname !== location.pathname;
    if (isElsewhere) this.around(() => navigate(to, options));
    else navigate(to, options);
  };

  /** Runs an action that ends the page, after a confirmation if text would be lost. */
  readonly around = (leave: () => void): void => {
    if (this.hasText) {
      this.ask(() => {
        this.forget();
        leave();
      });
    } else leave();
  };

  readonly #follow = (onChange: () => void) => {
    this.#followers.add(onChange);
    return () => this.#followers.delete(onChange);
  };

  readonly #push: Navigate = (to, options) =>
    history[options?.replace === true ? 'replaceState' : 'pushState'](null, '', to);

  #enter(place: number): void {
    this.#place = place;
    this.#path = location.pathname;
    if (history.state?.place !== place) history.replaceState({ ...history.state, place }, '');
    for (const onChange of this.#followers) onChange();
  }

  #step(event: PopStateEvent): void {
    if (this.#takenBack !== undefined) {
      event.stopImmediatePropagation();
      this.#askFor(this.#takenBack);
      return;
    }
    const place: unknown = event.state?.place;
    // An entry without a number is new, such as one of a link within the page.
    const to = typeof place === 'number' ? place : this.#place + 1;
    const mayGo = typeof place !== 'number' || this.#isAgreed || location.pathname === this.#path || !this.hasText;
    this.#isAgreed = false;
    if (mayGo) this.#enter(to);
    else {
      event.stopImmediatePropagation();
      this.#takenBack = this.#place - to;
      history.go(this.#takenBack);
    }
  }

  /** @param entries that a reverted step went back. */
  #askFor(entries: number): void {
    this.#takenBack = undefined;
    this.ask(() => {
      this.#isAgreed = true;
      this.forget();
      history.go(-entries);
    });
  }
}
