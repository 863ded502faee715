import type { FileEntry } from '@dock/sdk'
import type { ReactNode } from 'react'
import { RelativeTime } from '../../components/time.tsx'
import { formatBytes } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'

/** Rows of a folder have this height in pixels. */
export const entryRowHeight = 40

const shapes: Partial<Record<FileEntry['type'], string>> = {
  folder: 'M1.5 4a1 1 0 0 1 1-1h3l1.5 1.5h6.5a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1z',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1-1a2.5 2.5 0 0 1 4 4l-1 1M9 11.5l-1 1a2.5 2.5 0 0 1-4-4l1-1',
}
const fileShape = 'M4 1.5h5l3 3V14a.5.5 0 0 1-.5.5h-7.5A.5.5 0 0 1 3.5 14V2a.5.5 0 0 1 .5-.5zM9 1.5v3h3'

/** One file or folder in a list. `link` makes the link that opens it. */
export function EntryRow(props: {
  entry: Omit<FileEntry, 'modifiedAt'> & { modifiedAt: string | null }
  link: (children: ReactNode) => ReactNode
  children?: ReactNode
}) {
  const { entry } = props
  return (
    <div className="flex h-[40px] items-center gap-2 border-b border-line px-3 text-sm hover:bg-raised">
      <svg
        viewBox="0 0 16 16"
        className={`size-4 shrink-0 ${entry.type === 'folder' ? 'text-accent' : 'text-muted'}`}
        fill="none"
        stroke="currentColor"
        aria-hidden="true"
      >
        <path d={shapes[entry.type] ?? fileShape} />
      </svg>
      <span className="flex min-w-0 flex-1 items-center gap-1">
        {props.link(<bdi className="leading-6">{visibleName(entry.name)}</bdi>)}
        {entry.target !== null && (
          <span className="min-w-0 truncate text-muted">
            → <bdi>{visibleName(entry.target)}</bdi>
          </span>
        )}
        {!['file', 'folder', 'link'].includes(entry.type) && (
          <span className="text-muted"> ({entry.type})</span>
        )}
      </span>
      <span className="hidden w-14 shrink-0 font-mono text-xs text-muted md:block">{entry.mode}</span>
      <span className="w-20 shrink-0 text-right text-xs text-muted">
        {entry.type === 'file' ? formatBytes(entry.size) : ''}
      </span>
      {entry.modifiedAt !== null && (
        <span className="hidden w-28 shrink-0 text-right text-xs text-muted sm:block">
          <RelativeTime at={entry.modifiedAt} />
        </span>
      )}
      {props.children}
    </div>
  )
}
