import type { ComponentProps } from 'react'
import { buttonClass } from './button.tsx'

/** A link that looks like a plain button, for example to download a file. */
export function ButtonLink(props: ComponentProps<'a'>) {
  return <a {...props} className={buttonClass()} />
}
