import { type ReactNode, useEffect, useRef } from 'react'

/** A row of links between the parts of a page. Give each link the class `tabClass`. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const row = useRef<HTMLElement>(null)
  // On a narrow page the row scrolls. The chosen link is kept in view, without scrolling the page.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-current=page]')
    if (row.current && chosen) row.current.scrollLeft = chosen.offsetLeft - row.current.offsetLeft - 24
  })
  return (
    <nav
      ref={row}
      aria-label={label}
      className="flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line"
    >
      {children}
    </nav>
  )
}

export const tabClass =
  'shrink-0 border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink aria-[current=page]:font-medium'
