/** Notices when this host's images change: one arrived from another host, or script/image replaced one beside the agent. */
import type { Clock, Emitter, Logger } from '@dock/foundation'
import type { DiskPool } from '../disks/pool.ts'

const periodMs = 2_000

/** Emits to `changes` after each change. Returns a function that stops the watch. */
export function watchImages(parts: {
  disks: Pick<DiskPool, 'images'>
  changes: Emitter<void>
  clock: Clock
  logger: Logger
}): () => void {
  const { disks, changes, clock, logger } = parts
  let known: string | undefined
  let hasEnded = false
  let cancel = () => {}
  const check = async (): Promise<void> => {
    const present = JSON.stringify([...(await disks.images())])
    if (hasEnded) return
    if (known !== undefined && known !== present) {
      logger.info({ images: JSON.parse(present) }, 'the images of this host have changed')
      changes.emit()
    }
    known = present
  }
  const again = (): void => {
    check()
      .catch((error: unknown) => logger.warn({ err: error }, 'could not read the images of this host'))
      .finally(() => {
        if (!hasEnded) cancel = clock.after(periodMs, again)
      })
  }
  again()
  return () => {
    hasEnded = true
    cancel()
  }
}
