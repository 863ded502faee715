/**
 * Makes a release out of unpacked Debian packages: the file tree that a jailed QEMU sees, the modules that the kernel needs
 * to boot, and a read-only disk with all of its modules.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { runCommand } from '@dock/foundation'
import { bootModules } from '../boot-modules.ts'
import { unpackKernel } from './unpack-kernel.ts'

export type ReleaseOrigin = {
  /** Root of the unpacked packages. */
  packages: string
  id: string
  qemuVersion: string
  kernelVersion: string
  /** Name of the kernel's folder in /lib/modules. */
  kernelName: string
}

/** What runs inside the jail: QEMU, and the programs that take its rights away. */
const programs = ['qemu-system-x86_64', 'setpriv', 'umount']
const firmwareFolder = 'usr/share/qemu'
/** The BIOS of the machine, and its loader of kernels with a PVH entry. */
const firmware = ['qboot.rom', 'pvh.bin']
const libraries = 'usr/lib/x86_64-linux-gnu'
const loader = 'ld-linux-x86-64.so.2'
const commandTimeoutMs = 120_000
const moduleBytesMax = 64 * 2 ** 20
/** Loads modules when the kernel asks for one, in Docks whose own disk may lack such a program. It brings its libraries. */
const moduleLoader = `#!/bin/sh
folder=\${0%/*}
exec "$folder/${loader}" --library-path "$folder" --argv0 modprobe "$folder/kmod" "$@"
`
/** Room for what ext4 itself needs. */
const diskSlackKiB = 4096
const execute = promisify(execFile)

/** Creates the release in the new folder `into`. */
export async function assembleRelease(origin: ReleaseOrigin, into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  await makeTree(origin, join(into, 'root'))
  await unpackBootModules(origin, join(into, 'boot-modules'))
  await makeModuleDisk(origin, into)
  const hashes = Object.fromEntries(
    await Promise.all(
      ['root/usr/bin/qemu-system-x86_64', 'root/vmlinux', 'modules.ext4'].map(async (name) => {
        const content = await readFile(join(into, name))
        return [basename(name), createHash('sha256').update(content).digest('hex')] as const
      }),
    ),
  )
  const { id, qemuVersion, kernelVersion, kernelName } = origin
  const release = { id, qemuVersion, kernelVersion, kernelName, sha256: hashes }
  await writeFile(join(into, 'release.json'), `${JSON.stringify(release, null, 2)}\n`)
}

/** Runs a program of the packages, which may need newer libraries than this machine has. */
const runPackaged = (packages: string, program: string, args: readonly string[]): Promise<string> => {
  const folder = join(packages, libraries)
  return runCommand(join(folder, loader), ['--library-path', folder, join(packages, program), ...args], {
    timeoutMs: commandTimeoutMs,
  })
}

/** Returns the names of the libraries that a program loads. */
const librariesOf = async (packages: string, program: string): Promise<string[]> => {
  const folder = join(packages, libraries)
  const listed = await runCommand(join(folder, loader), [
    ...['--library-path', folder, '--list', join(packages, 'usr/bin', program)],
  ])
  const lines = listed.split('\n').filter((line) => line.includes('=>') || line.includes(loader))
  if (lines.some((line) => line.includes('not found')))
    throw new Error(`libraries of ${program} are missing:\n${listed}`)
  return lines.map((line) => basename(/(\/\S+)/.exec(line)![1]!))
}

/** Makes a root filesystem in which the programs run by their usual paths, with the kernel beside them. */
const makeTree = async ({ packages, kernelName }: ReleaseOrigin, tree: string): Promise<void> => {
  // `old` and `proc` are mount points that the jail uses while it is made.
  for (const folder of ['usr/bin', libraries, 'usr/lib64', firmwareFolder, 'old', 'proc'])
    await mkdir(join(tree, folder), { recursive: true })
  const wanted = new Set([loader])
  for (const program of programs) {
    await copyFile(join(packages, 'usr/bin', program), join(tree, 'usr/bin', program))
    for (const name of await librariesOf(packages, program)) wanted.add(name)
  }
  for (const name of wanted) await copyFile(join(packages, libraries, name), join(tree, libraries, name))
  await symlink(`../lib/x86_64-linux-gnu/${loader}`, join(tree, 'usr/lib64', loader))
  for (const folder of ['bin', 'lib', 'lib64']) await symlink(`usr/${folder}`, join(tree, folder))
  for (const name of firmware)
    await copyFile(join(packages, firmwareFolder, name), join(tree, firmwareFolder, name))
  const kernel = unpackKernel(await readFile(join(packages, `boot/vmlinuz-${kernelName}`)))
  await writeFile(join(tree, 'vmlinux'), kernel)
}

/** Unpacks the modules that the guest agent loads before it can reach a disk. Those built into the kernel have no file. */
const unpackBootModules = async ({ packages, kernelName }: ReleaseOrigin, into: string): Promise<void> => {
  const folder = join(packages, 'usr/lib/modules', kernelName)
  const files = await readdir(join(folder, 'kernel'), { recursive: true })
  const builtIn = (await readFile(join(folder, 'modules.builtin'), 'utf8')).split('\n')
  await mkdir(into)
  for (const name of bootModules) {
    if (builtIn.some((line) => line.endsWith(`/${name}.ko`))) continue
    const file = files.find((each) => each.endsWith(`/${name}.ko.xz`))
    if (!file) throw new Error(`kernel ${kernelName} has no module ${name}`)
    await writeFile(join(into, `${name}.ko`), await unpackModule(join(folder, 'kernel', file)))
  }
}

const unpackModule = async (file: string): Promise<Buffer> => {
  const options = { encoding: 'buffer', maxBuffer: moduleBytesMax, timeout: commandTimeoutMs } as const
  return (await execute('xz', ['-dc', file], options)).stdout
}

const addModuleLoader = async (packages: string, into: string): Promise<void> => {
  await mkdir(into)
  await copyFile(join(packages, 'usr/bin/kmod'), join(into, 'kmod'))
  for (const name of new Set([loader, ...(await librariesOf(packages, 'kmod'))]))
    await copyFile(join(packages, libraries, name), join(into, name))
  await writeFile(join(into, 'modprobe'), moduleLoader, { mode: 0o755 })
}

/**
 * Makes an ext4 disk with the content of the kernel's folder in /lib/modules, where a guest mounts it, and the indexes that
 * modprobe reads.
 */
const makeModuleDisk = async ({ packages, kernelName }: ReleaseOrigin, into: string): Promise<void> => {
  const content = join(into, 'module-disk')
  const modules = join(content, 'lib/modules', kernelName)
  await cp(join(packages, 'usr/lib/modules', kernelName), modules, { recursive: true })
  await runPackaged(packages, 'usr/sbin/depmod', ['-b', content, kernelName])
  await addModuleLoader(packages, join(modules, 'loader'))
  const kibibytes = Number((await runCommand('du', ['-sk', modules])).split('\t')[0])
  const disk = join(into, 'modules.ext4')
  await runCommand(
    'mke2fs',
    [
      ...['-q', '-t', 'ext4', '-O', '^has_journal', '-m', '0', '-L', 'dock-modules', '-E', 'root_owner=0:0'],
      ...['-d', modules, disk, `${Math.ceil(kibibytes * 1.1) + diskSlackKiB}k`],
    ],
    { timeoutMs: commandTimeoutMs },
  )
  await rm(content, { recursive: true })
}
