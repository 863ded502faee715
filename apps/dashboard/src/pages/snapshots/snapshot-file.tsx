import { useQuery } from '@tanstack/react-query'
import { readSnapshotFileStart, snapshotFileUrl } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { joinPath } from '../../lib/dock-path.ts'
import { formatBytes } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { FilePreview, readPreview } from '../files/file-preview.tsx'

/** One file of a Snapshot: preview and download. */
export function SnapshotFile({ id, folder, name }: { id: string; folder: string; name: string }) {
  const path = joinPath(folder, name)
  const opened = useQuery({
    queryKey: ['snapshot-file', id, path],
    queryFn: ({ signal }) => readPreview((bytesMax) => readSnapshotFileStart(id, path, bytesMax, signal)),
    gcTime: 0,
  })
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="mr-auto text-sm text-muted">{opened.data && formatBytes(opened.data.size)}</span>
        <ButtonLink href={snapshotFileUrl(id, path)} download={name}>
          Download
        </ButtonLink>
      </div>
      {opened.error && <ErrorAlert error={opened.error} />}
      {opened.isPending && !opened.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {opened.data && <FilePreview file={opened.data} name={visibleName(name)} />}
    </div>
  )
}
