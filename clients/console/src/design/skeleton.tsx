/** A placeholder for content. Pages show it through `Loaded`, which knows when no content will arrive. */
export function Skeleton({ rows = 3 }: { readonly rows?: number }) {
  return (
    <div className="flex flex-col gap-3 p-4" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={String(row)} className="skeleton h-5" />
      ))}
    </div>
  );
}
