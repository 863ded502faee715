import { setTimeout as delay } from 'node:timers/promises'
import type { Verb } from './verb.ts'

const patienceMs = 30_000

/** Removes an own image from the catalog after script/image has removed it from this machine's pool. */
export const removeImage: Verb = {
  usage: 'NAME',
  summary: 'removes an own image from the catalog; script/image runs it',
  read: ([name, ...rest]) => {
    if (name === undefined || rest.length > 0) return undefined
    return async (db) => {
      const { listBuildersOf, removeVersions } = await import('../modules/storage/index.ts')
      const deadline = Date.now() + patienceMs
      // This machine reports within seconds that it has removed the image. Before that it could publish it once more.
      for (;;) {
        const builders = await listBuildersOf(db, name)
        if (builders.length === 0) break
        if (Date.now() > deadline) {
          const hosts = builders.map(({ id, state }) => `${id} (${state})`).join(', ')
          throw new Error(
            `${name} stays in the catalog, because these hosts have built it: ${hosts}. Run script/image --remove ${name} on them first, or script/admin builders remove HOST.`,
          )
        }
        await delay(250)
      }
      await removeVersions(db, name, new Date())
      return `${name} is removed. Other hosts delete it within a minute or when they return. Docks made from it keep their disks.`
    }
  },
}
