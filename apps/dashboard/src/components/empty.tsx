import type { ReactNode } from 'react'

/** Says that there is nothing yet, and what to do next. */
export function Empty(props: { title: string; text: ReactNode; icon?: ReactNode; children?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-2 rounded-lg border border-dashed border-line bg-panel/50 px-6 py-12 text-center">
      {props.icon && (
        <span
          aria-hidden="true"
          className="mb-1 grid size-10 place-content-center rounded-full bg-raised text-muted"
        >
          {props.icon}
        </span>
      )}
      <h2 className="m-0 text-base font-semibold">{props.title}</h2>
      <p className="m-0 max-w-md text-sm text-muted">{props.text}</p>
      {props.children && <div className="mt-2 flex flex-wrap justify-center gap-2">{props.children}</div>}
    </div>
  )
}
