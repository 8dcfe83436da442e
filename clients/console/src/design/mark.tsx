/** The logo. The name is next to it, so it has no text alternative. */
export function Mark() {
  return <span className="mark size-6 shrink-0" aria-hidden />;
}
