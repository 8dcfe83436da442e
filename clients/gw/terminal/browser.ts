/** Opens a web link in the browser of this machine. A machine without one is no failure: the caller prints the link as well. */
export async function openBrowser(link: string): Promise<void> {
  if (!/^https?:/.test(link)) return;
  const { default: open } = await import('open');
  try {
    const started = await open(link);
    started.once('error', () => undefined);
    started.unref();
  } catch {
    // The link is printed.
  }
}
