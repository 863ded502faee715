import type { ReactNode } from 'react'

/** A part of a page with a heading and a sentence about it. */
export function Section(props: { title: string; text?: ReactNode; children: ReactNode }) {
  return (
    <section
      aria-label={props.title}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4 md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)] md:gap-8"
    >
      <div>
        <h2 className="m-0 text-sm font-semibold">{props.title}</h2>
        {props.text && <p className="m-0 mt-1 text-sm text-muted">{props.text}</p>}
      </div>
      <div className="grid min-w-0 content-start gap-3">{props.children}</div>
    </section>
  )
}
