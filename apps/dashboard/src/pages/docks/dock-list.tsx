import type { ListedDock } from '@dock/sdk'
import { VirtualList } from '../../components/virtual-list.tsx'
import { DockRow } from './dock-row.tsx'

const rowHeight = 64

/** The list of Docks, of any length. */
export function DockList(props: {
  docks: readonly ListedDock[]
  hasMore: boolean
  onMore: () => void
  selected: ReadonlySet<string>
  onSelect: (id: string, selected: boolean) => void
}) {
  return (
    <VirtualList
      label="Docks"
      items={props.docks}
      keyOf={({ id }) => id}
      rowHeight={rowHeight}
      hasMore={props.hasMore}
      onMore={props.onMore}
    >
      {(dock) => (
        <DockRow
          dock={dock}
          isSelected={props.selected.has(dock.id)}
          onSelect={(selected) => props.onSelect(dock.id, selected)}
        />
      )}
    </VirtualList>
  )
}
