import type { ReactNode } from 'react'

/** Rows in a panel, divided by lines. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="m-0 grid list-none divide-y divide-line p-0">
      {children}
    </ul>
  )
}

/** A row: what it is about, a smaller line, and its actions, which move below on a narrow page. */
export function Row(props: { title: ReactNode; text?: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex min-w-0 flex-wrap items-center gap-2 text-sm font-medium">{props.title}</div>
        {props.text && <div className="mt-0.5 text-xs text-muted">{props.text}</div>}
      </div>
      {props.children && <div className="flex flex-wrap items-center gap-2">{props.children}</div>}
    </li>
  )
}
