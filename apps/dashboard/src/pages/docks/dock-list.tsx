import type { ListedDock } from '@dock/sdk'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { DockRow } from './dock-row.tsx'

const rowHeight = 64

/** A list that renders only the rows in view. It asks for more when its end comes near. */
export function DockList(props: {
  docks: readonly ListedDock[]
  hasMore: boolean
  onMore: () => void
  selected: ReadonlySet<string>
  onSelect: (id: string, selected: boolean) => void
}) {
  const { docks, hasMore, onMore } = props
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: docks.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: top,
  })
  const items = rows.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && lastShown > docks.length - 20) onMore()
  }, [hasMore, lastShown, docks.length, onMore])
  return (
    <ul
      ref={list}
      className="relative m-0 list-none p-0 rounded-lg border border-line bg-panel"
      style={{ height: rows.getTotalSize() + 2 }}
      aria-label="Docks"
    >
      {items.map((item) => {
        const dock = docks[item.index]!
        return (
          <li
            key={dock.id}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${item.start - rows.options.scrollMargin}px)` }}
          >
            <DockRow
              dock={dock}
              isSelected={props.selected.has(dock.id)}
              onSelect={(selected) => props.onSelect(dock.id, selected)}
            />
          </li>
        )
      })}
    </ul>
  )
}
