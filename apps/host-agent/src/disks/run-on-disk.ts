/**
 * Runs a filesystem program on a disk with untrusted content, confined. The program opens the disk through an inherited
 * descriptor, because it sees no folder that contains the disk.
 */
import { open } from 'node:fs/promises'
import { confinedFile, spawnConfined } from './confinement/spawn-confined.ts'

/** The path of the disk inside the program. */
export const diskPath: string = confinedFile
/** How much output is kept. A hostile filesystem can make the program print without end. */
const outputCharsMax = 4_096

/** e2fsck says this first, because it sees no devices, and goes on. */
const noNullDevice = /^ERROR: Couldn't open \/dev\/null .*\n/

export type DiskRun = { code: number; signal: NodeJS.Signals | null; output: string }

export type DiskLimits = {
  /** Limit of the address space. */
  memoryBytes: number
  /** Limit of the processor time. */
  cpuSeconds: number
  /** Limit of the elapsed time, after which the program is killed. */
  deadlineMs: number
}

/** Enough for a disk of 2 TiB with a few million files. */
export const usualDiskLimits: DiskLimits = { memoryBytes: 2 * 2 ** 30, cpuSeconds: 300, deadlineMs: 600_000 }

const runWithDescriptor = (
  program: string,
  args: readonly string[],
  disk: { fd: number; bytes: number },
  { memoryBytes, cpuSeconds, deadlineMs }: DiskLimits,
): Promise<DiskRun> =>
  new Promise((resolve, reject) => {
    const child = spawnConfined([program, ...args], {
      ...{ fd: disk.fd, timeoutMs: deadlineMs, stdio: ['ignore', 'pipe', 'pipe'] },
      limits: { memoryBytes, cpuSeconds, fileBytes: disk.bytes },
      // Nothing here is mounted, and the program sees no table of mounts in which it could look.
      env: { EXT2FS_NO_MTAB_OK: '1' },
    })
    let output = ''
    const keep = (text: string): void => {
      if (output.length < outputCharsMax) output += text.slice(0, outputCharsMax - output.length)
    }
    child.stdout?.setEncoding('utf8').on('data', keep)
    child.stderr?.setEncoding('utf8').on('data', keep)
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128, signal, output: output.replace(noNullDevice, '') }),
    )
  })

/**
 * Runs `program` on the disk in `file`, which nothing else may use at the same time. `write` lets the program change the
 * disk. Returns how the program ended, also if it failed. Rejects if it cannot be started.
 */
export async function runOnDisk(
  program: string,
  args: readonly string[],
  file: string,
  { write = false, limits = usualDiskLimits }: { write?: boolean; limits?: DiskLimits } = {},
): Promise<DiskRun> {
  const disk = await open(file, write ? 'r+' : 'r')
  try {
    const { size } = await disk.stat()
    // The program reopens the descriptor with the rights of its user. No other process of a tenant has a path to the file.
    if (write) await disk.chmod(0o666)
    try {
      return await runWithDescriptor(program, args, { fd: disk.fd, bytes: size }, limits)
    } finally {
      if (write) await disk.chmod(0o644)
    }
  } finally {
    await disk.close()
  }
}
