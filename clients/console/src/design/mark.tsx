/** The sign of the product. The name stands beside it, so it says nothing of its own. */
export function Mark() {
  return <span className="mark size-6 shrink-0" aria-hidden />;
}
