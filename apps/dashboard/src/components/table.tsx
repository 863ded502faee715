import type { ComponentProps, ReactNode } from 'react'

/**
 * A table in a box that scrolls sideways when the screen is narrow. `label` names it. The last column of `columns` may
 * be an empty text: it holds buttons.
 */
export function Table(props: { label: string; columns: readonly string[]; children: ReactNode }) {
  return (
    // The box takes the focus, so that the keyboard scrolls it. What is only read aloud is placed in it, and not in the page.
    <section
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keyboard.
      tabIndex={0}
      className="relative overflow-x-auto rounded-lg border border-line bg-panel shadow-raised"
    >
      <table className="w-full border-collapse text-left text-sm">
        <thead>
          <tr className="border-b border-line">
            {props.columns.map((column) => (
              <th
                key={column}
                scope="col"
                className="whitespace-nowrap px-4 py-2.5 text-xs font-medium text-muted"
              >
                {column || <span className="sr-only">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </section>
  )
}

export function Row(props: ComponentProps<'tr'>) {
  return <tr {...props} className="border-b border-line last:border-b-0 hover:bg-raised/60" />
}

export function Cell({ className = '', ...props }: ComponentProps<'td'>) {
  return <td {...props} className={`px-4 py-2.5 align-middle ${className}`} />
}
