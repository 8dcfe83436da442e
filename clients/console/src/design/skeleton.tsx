/** Stands where content will be. Pages show it by `Loaded`, which knows when nothing will come. */
export function Skeleton({ rows = 3 }: { readonly rows?: number }) {
  return (
    <div className="flex flex-col gap-3 p-4" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={String(row)} className="skeleton h-5" />
      ))}
    </div>
  );
}
