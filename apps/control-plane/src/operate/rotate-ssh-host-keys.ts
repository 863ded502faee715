import type { Verb } from './verb.ts'

/** Replaces the host keys of the SSH gateway. Dock may be running. Clients refuse to connect until they know the new keys. */
export const rotateSshHostKeys: Verb = {
  usage: '',
  summary: 'replaces the host keys of the SSH gateway, and prints the new fingerprints',
  read: (words) => {
    if (words.length > 0) return undefined
    return async (db) => {
      const { openSealer } = await import('./open-sealer.ts')
      const { fingerprintOf } = await import('@dock/ssh-server')
      const { rotateSshHostKeys: rotate } = await import('../modules/keys/index.ts')
      const keys = await rotate(await openSealer(db))
      const fingerprints = keys.map(({ type, publicKey }) => {
        const [, encoded = ''] = publicKey.split(' ')
        return `  ${type} ${fingerprintOf(Buffer.from(encoded, 'base64'))}`
      })
      return ['Created new host keys. Their fingerprints:', ...fingerprints].join('\n')
    }
  },
}
