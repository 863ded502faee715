import type { Verb } from './verb.ts'

/**
 * Gives every organization and person a new data key and seals their secrets with it. Dock may be running. The server
 * removes the former keys after an hour.
 */
export const rotateKeys: Verb = {
  usage: '',
  summary: 'replaces the keys that seal secrets',
  read: (words) => {
    if (words.length > 0) return undefined
    return async (db) => {
      const { openSealer } = await import('./open-sealer.ts')
      const { rotateDataKeys } = await import('../sealing/index.ts')
      const { owners, resealed } = await rotateDataKeys(await openSealer(db))
      return `Created new data keys for ${owners} owners and sealed ${resealed} secrets with them.`
    }
  },
}
