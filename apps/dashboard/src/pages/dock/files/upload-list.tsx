import { formatBytes } from '../../../lib/format.ts'
import { visibleName } from '../../../lib/visible-text.ts'
import type { Upload } from './use-uploads.ts'

const stateOf = ({ state, error, sentBytes, size }: Upload): string => {
  if (state === 'failed') return error ?? 'failed'
  if (state === 'done') return 'done'
  return state === 'waiting' ? 'waiting' : `${formatBytes(sentBytes)} of ${formatBytes(size)}`
}

/** What is being uploaded, with progress. */
export function UploadList(props: { uploads: readonly Upload[]; onDismiss: (id: number) => void }) {
  if (props.uploads.length === 0) return null
  return (
    <ul aria-label="Uploads" className="m-0 grid list-none gap-2 rounded-lg border border-line bg-panel p-3">
      {props.uploads.map((upload) => (
        <li key={upload.id} className="grid gap-1 text-sm">
          <div className="flex items-center gap-2">
            <bdi className="min-w-0 flex-1 truncate">{visibleName(upload.name)}</bdi>
            <span
              role="status"
              className={`min-w-0 text-xs ${upload.state === 'failed' ? 'text-bad' : 'text-muted'}`}
            >
              {stateOf(upload)}
            </span>
            <button
              type="button"
              aria-label={`${upload.state === 'sending' || upload.state === 'waiting' ? 'Cancel' : 'Dismiss'}: ${upload.name}`}
              onClick={() => props.onDismiss(upload.id)}
              className="size-6 cursor-pointer rounded text-muted hover:bg-raised"
            >
              ×
            </button>
          </div>
          {upload.state !== 'failed' && (
            <progress
              aria-label={`Progress: ${upload.name}`}
              className="h-1.5 w-full accent-accent"
              max={Math.max(1, upload.size)}
              value={upload.state === 'done' ? Math.max(1, upload.size) : upload.sentBytes}
            />
          )}
        </li>
      ))}
    </ul>
  )
}
