/** A bar that shows how much of a limit is used. */
export function Meter(props: { label: string; value: number; max: number; text: string }) {
  const share = props.max > 0 ? Math.min(1, props.value / props.max) : props.value > 0 ? 1 : 0
  const color = share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-wait' : 'bg-accent'
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span className="font-medium">{props.label}</span>
        <span className="text-muted tabular-nums">{props.text}</span>
      </div>
      <meter className="sr-only" aria-label={props.label} min={0} max={props.max} value={props.value}>
        {props.text}
      </meter>
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-raised">
        <div
          className={`h-full rounded-full ${color}`}
          style={{ width: `${Math.max(share * 100, props.value > 0 ? 1 : 0)}%` }}
        />
      </div>
    </div>
  )
}
