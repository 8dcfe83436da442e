/**
 * Opens a web link in the browser of this machine. Not having one is not a failure: the caller also prints the link.
 */
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
