/** The host's id and credential, in a file of mode 0600. Anyone with the credential can act as this host. */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '@dock/foundation'
import { type RegisteredHost, registeredHost } from '@dock/host-protocol'

export type CredentialFile = {
  /** Returns null if there is no file or it cannot be parsed. */
  read(): Promise<RegisteredHost | null>
  write(host: RegisteredHost): Promise<void>
}

export function createCredentialFile(path: string): CredentialFile {
  return {
    read: async () => {
      try {
        return registeredHost.parse(JSON.parse(await readFile(path, 'utf8')))
      } catch {
        return null
      }
    },
    write: (host) => writeFileDurably(path, JSON.stringify(host)),
  }
}
