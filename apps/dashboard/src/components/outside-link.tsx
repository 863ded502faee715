import type { ReactNode } from 'react'
import { webAddress } from '../lib/web-address.ts'

/** A link to another site, in a tab of its own. An address that is no web page's is shown as text. */
export function OutsideLink({ to, children }: { to: string | null | undefined; children: ReactNode }) {
  const address = webAddress(to)
  if (address === undefined) return <span>{children}</span>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" className="text-accent underline">
      {children}
    </a>
  )
}
