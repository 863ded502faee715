import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** The part of an infinite query that {@link MoreButton} uses. */
type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }

/** Reads the next page of a list. Nothing if there is none. */
export function MoreButton({ pages, children }: { pages: Pages; children: ReactNode }) {
  if (!pages.hasNextPage) return null
  return (
    <Button
      className="justify-self-start"
      busy={pages.isFetchingNextPage}
      onClick={() => void pages.fetchNextPage()}
    >
      {children}
    </Button>
  )
}
