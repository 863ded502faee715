import type { ReactNode } from 'react'

/** Says that there is nothing yet, and what to do next. */
export function Empty(props: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-2 rounded-lg border border-dashed border-line px-6 py-12 text-center">
      <h2 className="m-0 text-base font-semibold">{props.title}</h2>
      <p className="m-0 max-w-md text-sm text-muted">{props.text}</p>
      {props.children && <div className="mt-2">{props.children}</div>}
    </div>
  )
}
