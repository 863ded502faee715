/**
 * Makes the first filesystem of a guest: the guest agent as process 1, and the modules that it loads before it can mount a
 * disk. There is no shell and no other program in it.
 */
import { bootModules } from './boot-modules.ts'
import { type ArchiveEntry, writeNewc } from './newc.ts'

/** `modules`: contents of the kernel's modules by name. Those that are built into the kernel are missing. */
export function makeInitrd(agent: Uint8Array, modules: ReadonlyMap<string, Uint8Array>): Buffer {
  const folders = ['dev', 'modules', 'proc', 'root', 'sys'].map((path) => ({ path, mode: 0o755 }))
  // The agent loads the modules in the order of their names.
  const files = bootModules.flatMap((name, index): ArchiveEntry[] => {
    const contents = modules.get(name)
    const path = `modules/${String(index).padStart(2, '0')}-${name}.ko`
    return contents ? [{ path, mode: 0o644, contents }] : []
  })
  return writeNewc([...folders, { path: 'init', mode: 0o755, contents: agent }, ...files])
}
