/** The SSH keys of this computer. */
import { access, readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

/** A file with a public key, and its line. */
export type PublicKeyFile = { file: string; line: string }

const usualFiles = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub']

const folderOf = (env: Environment): string => join(env.HOME || homedir(), '.ssh')

/** Returns the public key in `file`, or the usual one of this computer. Throws if there is none. */
export async function readPublicKey(env: Environment, file: string | undefined): Promise<PublicKeyFile> {
  const files = file === undefined ? usualFiles.map((each) => join(folderOf(env), each)) : [file]
  for (const each of files) {
    const text = await readFile(each, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    // A private key must never leave this computer.
    if (/PRIVATE KEY/.test(text))
      throw new LocalError('private_key', `${each} is a private key. Name the file that ends in .pub.`)
    return { file: each, line: text.trim() }
  }
  throw new LocalError('local_file', `There is no ${files.join(' or ')}. Make a key: ssh-keygen -t ed25519`)
}

/** True if two lines have the same key. Their comments may differ. */
export function isSameKey(one: string, other: string): boolean {
  const partsOf = (line: string): string => line.trim().split(/\s+/).slice(0, 2).join(' ')
  return partsOf(one) === partsOf(other)
}

/** Returns the files in `~/.ssh` with this public key. */
export async function filesOfKey(env: Environment, publicKey: string): Promise<PublicKeyFile[]> {
  const names = await readdir(folderOf(env)).catch(() => [])
  const files = names.filter((name) => name.endsWith('.pub')).map((name) => join(folderOf(env), name))
  const read = await Promise.all(
    files.map(async (file) => ({ file, line: await readFile(file, 'utf8').catch(() => '') })),
  )
  return read.filter(({ line }) => isSameKey(line, publicKey))
}

/**
 * Returns the private key that belongs to the file of a public one, or that file if the private key is elsewhere, for
 * example in an agent. ssh-keygen takes both.
 */
export async function signingFile({ file }: PublicKeyFile): Promise<string> {
  const privateFile = file.replace(/\.pub$/, '')
  return access(privateFile).then(
    () => privateFile,
    () => file,
  )
}
