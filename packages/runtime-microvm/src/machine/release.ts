/** Reads what script/install/microvm installed. */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'

const releaseRecord = z.object({
  id: z.string(),
  qemuVersion: z.string(),
  kernelVersion: z.string(),
  /** Name of the kernel's folder in /lib/modules. */
  kernelName: z.string(),
})

export type Release = z.infer<typeof releaseRecord> & {
  /** Folder of the release. Its files never change. */
  folder: string
}

/** Returns the installed release. Throws an error that says what to do if there is none. */
export async function readRelease(installed: string): Promise<Release> {
  try {
    const folder = await realpath(join(installed, 'current'))
    const record = releaseRecord.parse(JSON.parse(await readFile(join(folder, 'release.json'), 'utf8')))
    return { ...record, folder }
  } catch (error) {
    throw new Error(
      `no QEMU and kernel are installed at ${installed}: run script/install/microvm ${installed}`,
      {
        cause: error,
      },
    )
  }
}

/** Returns the contents of the modules that a guest loads before it can reach a disk, by name. */
export async function readBootModules({ folder }: Release): Promise<Map<string, Buffer>> {
  const modules = join(folder, 'boot-modules')
  const files = await readdir(modules)
  return new Map(
    await Promise.all(
      files.map(async (file) => [basename(file, '.ko'), await readFile(join(modules, file))] as const),
    ),
  )
}
