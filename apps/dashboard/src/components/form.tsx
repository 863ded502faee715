import type { ReactNode } from 'react'

/** A form whose submit does not load a page. `onSubmit` gets its fields. */
export function Form(props: {
  className?: string
  onSubmit: (fields: FormData, element: HTMLFormElement) => void
  children: ReactNode
}) {
  return (
    <form
      className={props.className ?? 'grid gap-4'}
      onSubmit={(event) => {
        event.preventDefault()
        const element = event.currentTarget
        props.onSubmit(new FormData(element), element)
      }}
    >
      {props.children}
    </form>
  )
}
