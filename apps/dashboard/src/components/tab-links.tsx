import type { ReactNode } from 'react'

/** A row of links between the parts of a page. Give each link the class `tabLinkClass`. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
      {children}
    </nav>
  )
}

export const tabLinkClass =
  '-mb-px shrink-0 border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink aria-[current=page]:font-medium'
