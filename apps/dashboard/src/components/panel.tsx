import type { ReactNode } from 'react'

/** A panel of a page with a heading, a sentence, and actions beside the heading. */
export function Panel(props: {
  title: string
  text?: ReactNode
  actions?: ReactNode
  /** What is lost here cannot be had back. */
  danger?: boolean
  children?: ReactNode
}) {
  return (
    <section
      className={`grid gap-4 rounded-lg border bg-panel p-4 sm:p-5 ${props.danger ? 'border-bad/40' : 'border-line'}`}
    >
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
