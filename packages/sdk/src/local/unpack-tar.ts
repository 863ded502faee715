/**
 * Unpacks a tar from a Dock into a folder of this computer. The tar is not trusted. Nothing is written outside of the
 * folder: no name leads out of it, no link is followed (also none that was there before), and links that lead out of it
 * are left out.
 */
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { chmod, link, lstat, mkdir, open, rename, rm, symlink } from 'node:fs/promises'
import { sep } from 'node:path'
import { LocalFileError } from '../dock-error.ts'
import { readTar, type TarEntry } from './tar-reader.ts'

type LocalPath = string | Buffer

/** Returns the path of a name in Latin-1. Most names are UTF-8; those that are not stay bytes. */
const pathOf = (folder: string, parts: readonly string[]): LocalPath => {
  const bytes = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(parts.join('/'), 'latin1')])
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : bytes
}

const shown = (parts: readonly string[]): string =>
  JSON.stringify(Buffer.from(parts.join('/'), 'latin1').toString())

/** Returns true if no file here can have this name, or if it leads elsewhere on this system. */
const isForeign = (part: string): boolean =>
  part.includes('\0') || (sep !== '/' && (part.includes(sep) || part.includes(':')))

const partsOf = (name: string): string[] => {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.some((part) => part === '..' || isForeign(part)))
    throw new LocalFileError(`The name ${shown([name])} leads out of the folder.`)
  return parts
}

/**
 * Returns true if a link in the folder `parents` stays inside. `..` is only allowed at the start: behind a name it would
 * depend on where that name leads.
 */
const staysInside = (parents: readonly string[], target: string): boolean => {
  if (target === '' || target.startsWith('/') || isForeign(target)) return false
  const steps = target.split('/').filter((part) => part !== '' && part !== '.')
  const ups = steps.findIndex((step) => step !== '..')
  const count = ups < 0 ? steps.length : ups
  return count <= parents.length && !steps.slice(count).includes('..')
}

const missing = (error: unknown): null => {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}

class Target {
  readonly #folder: string
  /** Folders that were checked. An entry never replaces a folder, so they stay folders. */
  readonly #known = new Set<string>()
  readonly skippedLinks: string[] = []
  constructor(folder: string) {
    this.#folder = folder
  }

  async add(entry: TarEntry): Promise<void> {
    const parts = partsOf(entry.name)
    const last = parts.at(-1)
    if (last === undefined || entry.type === 'other') return
    if (entry.type === 'folder') {
      await this.#enter(parts)
      await chmod(pathOf(this.#folder, parts), entry.mode | 0o700)
      return
    }
    const parents = parts.slice(0, -1)
    if (entry.type === 'link' && !staysInside(parents, entry.target)) {
      this.skippedLinks.push(Buffer.from(parts.join('/'), 'latin1').toString())
      return
    }
    await this.#enter(parents)
    const place = pathOf(this.#folder, parts)
    const before = await lstat(place).catch(missing)
    if (before?.isDirectory())
      throw new LocalFileError(`${shown(parts)} is a folder here and none in the Dock.`)
    const draft = pathOf(this.#folder, [...parents, `.dock-download-${randomUUID()}`])
    try {
      await this.#make(entry, draft)
      // A rename replaces a link instead of following it.
      await rename(draft, place)
    } finally {
      // Renaming one of two names of the same file onto the other leaves both.
      await rm(draft, { force: true })
    }
  }

  async #make(entry: TarEntry, draft: LocalPath): Promise<void> {
    if (entry.type === 'link') return symlink(Buffer.from(entry.target, 'latin1'), draft)
    if (entry.type === 'hardlink') {
      const parts = partsOf(entry.target)
      await this.#check(parts.slice(0, -1))
      const source = pathOf(this.#folder, parts)
      if (!(await lstat(source)).isFile()) throw new LocalFileError(`${shown(parts)} is not a file.`)
      return link(source, draft)
    }
    const file = await open(draft, 'wx', 0o600)
    try {
      for await (const bytes of entry.content()) await file.writeFile(bytes)
      await file.chmod(entry.mode)
      await file.utimes(entry.modifiedAt, entry.modifiedAt)
    } finally {
      await file.close()
    }
  }

  /** Makes the folders that are missing. Throws if one of them is a link or a file. */
  async #enter(parts: readonly string[]): Promise<void> {
    for (let depth = 1; depth <= parts.length; depth++) await this.#enterOne(parts.slice(0, depth), true)
  }

  async #check(parts: readonly string[]): Promise<void> {
    for (let depth = 1; depth <= parts.length; depth++) await this.#enterOne(parts.slice(0, depth), false)
  }

  async #enterOne(parts: readonly string[], isMade: boolean): Promise<void> {
    const key = parts.join('/')
    if (this.#known.has(key)) return
    const place = pathOf(this.#folder, parts)
    const before = await lstat(place).catch(missing)
    if (before && !before.isDirectory())
      throw new LocalFileError(
        `${shown(parts)} is a ${before.isSymbolicLink() ? 'link' : 'file'} here and a folder in the Dock. Remove it first.`,
      )
    if (!before) {
      if (!isMade) throw new LocalFileError(`${shown(parts)} is not there.`)
      await mkdir(place)
    }
    this.#known.add(key)
  }
}

/** Unpacks into `folder`, which is made at the first entry if it is missing. Returns the links that were left out. */
export async function unpackTar(tar: AsyncIterable<Uint8Array>, folder: string): Promise<string[]> {
  const target = new Target(folder)
  for await (const entry of readTar(tar)) {
    await mkdir(folder, { recursive: true })
    await target.add(entry)
  }
  return target.skippedLinks
}
