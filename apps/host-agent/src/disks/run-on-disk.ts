/**
 * Runs a filesystem program on a disk with untrusted content: as an unprivileged user that owns nothing and cannot gain
 * privileges, with limits for memory, time and file size. The program opens the disk through an inherited descriptor,
 * `/dev/fd/3`, because its user cannot enter the folders that contain the disk.
 */
import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'

/** A user id without a name. Not `nobody`: another process of the same user could trace the program and reach the disk. */
export const diskReader = 60_993
/** The path of the disk inside the program. */
export const diskPath = '/dev/fd/3'
/** How much output is kept. A hostile filesystem can make the program print without end. */
const outputCharsMax = 4_096

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
    const limits = [
      `--as=${memoryBytes}`,
      `--cpu=${cpuSeconds}`,
      `--fsize=${disk.bytes}`,
      '--core=0',
      '--nofile=64',
    ]
    const user = [`--reuid=${diskReader}`, `--regid=${diskReader}`, '--clear-groups']
    const child = spawn(
      'setpriv',
      [
        ...user,
        ...['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--'],
        ...['prlimit', ...limits, '--', program, ...args],
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe', disk.fd],
        env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
        timeout: deadlineMs,
        killSignal: 'SIGKILL',
      },
    )
    let output = ''
    const keep = (text: string): void => {
      if (output.length < outputCharsMax) output += text.slice(0, outputCharsMax - output.length)
    }
    child.stdout?.setEncoding('utf8').on('data', keep)
    child.stderr?.setEncoding('utf8').on('data', keep)
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code: code ?? 128, signal, output }))
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
    // The program reopens the descriptor with the rights of its user. No other process of that user has a path to the file.
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
