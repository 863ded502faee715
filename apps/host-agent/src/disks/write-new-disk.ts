/** Writes a disk from outside into a new file while the pool has room, and checks its filesystem. */
import { open } from 'node:fs/promises'
import { faultPoint, runCommand } from '@dock/foundation'
import { checkForeignDisk } from './check-foreign-disk.ts'

/** A sparse disk. A write throws if the pool has no room for it. */
export type FillingDisk = { write(content: Uint8Array, at: number): Promise<void> }
export type FillDisk = (disk: FillingDisk) => Promise<unknown>

/**
 * On return the file is on stable storage and its filesystem can be mounted. Throws HostileDisk if it must not be mounted.
 * With `afterPowerCut` the journal may need to be replayed first. `demandRoom` throws if nothing more may be written. It is
 * called before each write, because others fill the pool too and the pool guard freezes Docks but not the agent.
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
    // Copy-on-write can be turned off only for an empty file.
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
