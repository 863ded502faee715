import { setTimeout as delay } from 'node:timers/promises'
import type { Verb } from './verb.ts'

const patienceMs = 30_000

/** Waits until Docks can start from a version of an image that a builder has built. */
export const awaitImage: Verb = {
  usage: 'NAME [VERSION]',
  summary: 'waits until Docks can start from an image; script/image runs it',
  read: ([name, version = '', ...rest]) => {
    if (name === undefined || rest.length > 0) return undefined
    return async (db) => {
      const { listBuiltImages } = await import('../modules/storage/index.ts')
      const deadline = Date.now() + patienceMs
      for (;;) {
        const image = (await listBuiltImages(db)).find((each) => each.name === name)
        if (image?.available && (version === '' || image.builtAs === version))
          return `${name} is ready. Docks start from ${image.version}.`
        if (Date.now() > deadline)
          throw new Error(
            `${name} is built as ${version}, but this machine has not reported it as a builder. See script/admin builders and logs/host-agent.log.`,
          )
        await delay(250)
      }
    }
  },
}
