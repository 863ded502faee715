import type { ComponentProps } from 'react'

/** A link that looks like a plain button, for example to download a file. */
export function ButtonLink(props: ComponentProps<'a'>) {
  return (
    <a
      {...props}
      className="inline-flex h-9 shrink-0 items-center rounded-md border border-line bg-panel px-3 text-sm font-medium hover:bg-raised"
    />
  )
}
