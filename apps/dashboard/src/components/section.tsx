import type { ReactNode } from 'react'

/** A panel of a page with a heading, a sentence, and actions beside the heading. */
export function Section(props: {
  title: string
  text?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}) {
  return (
    <section className="grid gap-4 rounded-lg border border-line bg-panel p-4 sm:p-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h2 className="m-0 text-base font-semibold">{props.title}</h2>
          {props.text && <p className="m-0 mt-1 max-w-2xl text-sm text-muted">{props.text}</p>}
        </div>
        {props.actions}
      </div>
      {props.children}
    </section>
  )
}

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
