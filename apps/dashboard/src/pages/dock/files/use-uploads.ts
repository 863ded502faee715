import { useCallback, useRef, useState } from 'react'
import { messageOf } from '../../../api/client.ts'
import { uploadFile } from '../../../api/dock-files.ts'
import { joinPath } from '../../../lib/dock-path.ts'

export type Upload = {
  id: number
  name: string
  size: number
  sentBytes: number
  state: 'waiting' | 'sending' | 'done' | 'failed'
  error?: string
}

/** Uploads that run at the same time. */
const atOnce = 2

/** The uploads of this page into a Dock. `onDone` is called with the folder after each. */
export function useUploads(dockId: string, onDone: (folder: string) => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const last = useRef(0)
  const cancels = useRef(new Map<number, AbortController>())

  const change = useCallback((id: number, part: Partial<Upload>): void => {
    setUploads((before) => before.map((each) => (each.id === id ? { ...each, ...part } : each)))
  }, [])

  const upload = useCallback(
    async (folder: string, files: readonly File[]): Promise<void> => {
      const queue = files.map((file) => ({ file, id: ++last.current, cancel: new AbortController() }))
      for (const { id, cancel } of queue) cancels.current.set(id, cancel)
      setUploads((before) => [
        ...before.filter(({ state }) => state !== 'done'),
        ...queue.map(({ id, file: { name, size } }) => ({
          id,
          name,
          size,
          sentBytes: 0,
          state: 'waiting' as const,
        })),
      ])
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { id, file, cancel } = next
          if (cancel.signal.aborted) continue
          change(id, { state: 'sending' })
          try {
            await uploadFile(dockId, joinPath(folder, file.name), file, {
              signal: cancel.signal,
              onProgress: (sentBytes) => change(id, { sentBytes }),
            })
            change(id, { state: 'done', sentBytes: file.size })
            onDone(folder)
          } catch (error) {
            change(id, { state: 'failed', error: messageOf(error) })
          } finally {
            cancels.current.delete(id)
          }
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
    },
    [dockId, onDone, change],
  )

  /** Cancels the upload, or removes it from the list if it has ended. */
  const dismiss = useCallback((id: number): void => {
    cancels.current.get(id)?.abort()
    setUploads((before) => before.filter((each) => each.id !== id))
  }, [])

  return { uploads, upload, dismiss }
}
