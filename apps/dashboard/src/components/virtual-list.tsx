import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** A list that renders only the rows in view. It asks for more when its end comes near. */
export function VirtualList<Item>(props: {
  label: string
  items: readonly Item[]
  keyOf: (item: Item) => string
  /** In pixels, with the border. */
  rowHeight: number
  hasMore: boolean
  onMore: () => void
  children: (item: Item) => ReactNode
}) {
  const { items, rowHeight, hasMore, onMore } = props
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: top,
  })
  const shown = rows.getVirtualItems()
  const lastShown = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && lastShown > items.length - 20) onMore()
  }, [hasMore, lastShown, items.length, onMore])
  return (
    <ul
      ref={list}
      className="relative m-0 list-none overflow-hidden rounded-lg border border-line bg-panel p-0 shadow-raised"
      style={{ height: rows.getTotalSize() + 1 }}
      aria-label={props.label}
    >
      {shown.map((row) => {
        const item = items[row.index]!
        return (
          <li
            key={props.keyOf(item)}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${row.start - rows.options.scrollMargin}px)` }}
          >
            {props.children(item)}
          </li>
        )
      })}
    </ul>
  )
}
