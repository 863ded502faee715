/** Grey lines in the place of what is being loaded. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div role="status" className="grid gap-3 rounded-lg border border-line bg-panel p-4">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: lines }, (_, line) => line).map((line) => (
        <div key={line} aria-hidden="true" className="flex animate-pulse gap-4">
          <span className="h-4 w-1/3 rounded bg-raised" />
          <span className="h-4 flex-1 rounded bg-raised" />
        </div>
      ))}
    </div>
  )
}
