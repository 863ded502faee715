/** Writes a disk that comes from elsewhere into a new file, as long as the pool has room, and proves its filesystem. */
import { open } from 'node:fs/promises'
import { faultPoint, runCommand } from '@dock/foundation'
import { checkForeignDisk } from './check-foreign-disk.ts'

/** A disk of holes. A write throws once the pool has no room for it. */
export type FillingDisk = { write(content: Uint8Array, at: number): Promise<void> }
export type FillDisk = (disk: FillingDisk) => Promise<unknown>

/**
 * On return the file's content is on stable storage, and its filesystem can be mounted; throws HostileDisk when it must
 * not be. `afterPowerCut`: the journal may have to be replayed first. `demandRoom` throws when nothing more may be written: it is asked
 * before each write, for others fill the pool as well, and the guard stops Docks but not the agent.
 */
export async function writeNewDisk(
  path: string,
  diskBytes: number,
  fill: FillDisk,
  demandRoom: () => void,
  afterPowerCut: boolean,
): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    // Only an empty file can be taken out of copy-on-write.
    await runCommand('chattr', ['+C', path])
    await file.truncate(diskBytes)
    await fill({
      async write(content, at) {
        demandRoom()
        let written = 0
        while (written < content.length) {
          const { bytesWritten } = await file.write(content, written, content.length - written, at + written)
          written += bytesWritten
        }
      },
    })
    faultPoint('disk:restore-sync')
    await file.sync()
    await checkForeignDisk(path, { afterPowerCut })
    await file.sync()
  } finally {
    await file.close()
  }
}
