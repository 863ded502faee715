import type { ReactNode } from 'react'

/** The frame of a page: its heading, what can be done on it, and its contents. */
export function Page(props: { title: string; text?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <main className="mx-auto grid max-w-5xl gap-4 p-4">
      <div className="flex flex-wrap items-start gap-3">
        <div className="mr-auto min-w-0">
          <h1 className="m-0 text-xl font-semibold">{props.title}</h1>
          {props.text && <p className="m-0 mt-1 max-w-2xl text-sm text-muted">{props.text}</p>}
        </div>
        {props.actions}
      </div>
      {props.children}
    </main>
  )
}

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
