import { once } from 'node:events';

/** Opens a link in the browser of this machine. A machine without one is no failure: the link is printed as well. */
export async function openBrowser(link: string): Promise<void> {
  const { default: open } = await import('open');
  try {
    const started = await open(link);
    started.unref();
    await Promise.race([once(started, 'spawn'), once(started, 'error')]);
  } catch {
    // The caller prints the link.
  }
}
