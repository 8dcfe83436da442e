import type { Found } from './search';
import './page.css';

const NEXT_THEME: Readonly<Record<string, string>> = { system: 'light', light: 'dark', dark: 'system' };
const COPIED_MS = 2_000;

/** The element of a page that `tools/documentation.mjs` has written. */
function part<T extends HTMLElement>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (element === null) throw new Error(`The page has no ${selector}.`);
  return element;
}

function makeElement<K extends keyof HTMLElementTagNameMap>(tag: K, text: string, className = '') {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = makeElement('button', 'Copy', 'copy');
    button.type = 'button';
    button.addEventListener('click', async () => {
      const text = block.querySelector('pre')?.textContent ?? '';
      // Browsers refuse it on pages without TLS.
      const isCopied = await navigator.clipboard?.writeText(text).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Select it, then copy';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, COPIED_MS);
    });
    block.append(button);
  }
}

/** The theme of the console and of these pages is one. */
function offerThemes(): void {
  const button = part<HTMLButtonElement>('.theme');
  const { dataset } = document.documentElement;
  const show = () => {
    button.textContent = `Theme: ${dataset.theme ?? 'system'}`;
  };
  button.addEventListener('click', () => {
    const next = NEXT_THEME[dataset.theme ?? 'system'];
    if (next === 'system') {
      delete dataset.theme;
      localStorage.removeItem('theme');
    } else {
      dataset.theme = next;
      localStorage.setItem('theme', String(next));
    }
    show();
  });
  show();
  button.hidden = false;
}

function offerSearch(): void {
  const search = part('.search');
  const input = part<HTMLInputElement>('.search input');
  const list = part('.found');
  let chosen = 0;
  let sought = 0;
  const options = () => [...list.querySelectorAll<HTMLElement>('[role=option]')];
  const close = () => {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const choose = (index: number) => {
    chosen = Math.max(0, Math.min(index, options().length - 1));
    for (const [at, option] of options().entries()) option.setAttribute('aria-selected', String(at === chosen));
    options()[chosen]?.scrollIntoView({ block: 'nearest' });
    if (options().length > 0) input.setAttribute('aria-activedescendant', `_found-${chosen}`);
  };
  const open = (address: string | undefined) => {
    if (address === undefined) return;
    close();
    location.assign(address);
  };
  const optionOf = ({ address, title, page }: Found, index: number) => {
    const option = makeElement('div', title);
    option.id = `_found-${index}`;
    option.role = 'option';
    option.dataset.address = address;
    option.append(makeElement('span', page));
    option.addEventListener('mousemove', () => choose(index));
    option.addEventListener('click', () => open(address));
    return option;
  };
  const show = async () => {
    const text = input.value.trim();
    const turn = ++sought;
    if (text === '') return close();
    const found = await findOr(text);
    if (turn !== sought) return;
    list.replaceChildren(...(typeof found === 'string' ? [] : found.map(optionOf)));
    list.role = options().length > 0 ? 'listbox' : 'status';
    if (options().length === 0) {
      list.append(makeElement('p', typeof found === 'string' ? found : `Nothing matches “${text}”.`));
    }
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    choose(0);
  };
  const findOr = async (text: string): Promise<readonly Found[] | string> => {
    try {
      const { find } = await import('./search');
      return await find(text, part('meta[name=search-index]').getAttribute('content') ?? '');
    } catch {
      return 'The search did not load. Try again.';
    }
  };
  input.addEventListener('input', () => void show());
  input.addEventListener('focus', () => void show());
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && search.contains(relatedTarget))) close();
  });
  // A click on a result would take the focus, and close the list before it opens.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen - 1);
    else if (event.key === 'Enter') open(options()[chosen]?.dataset.address);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  search.hidden = false;
}

addCopyButtons();
offerThemes();
offerSearch();
