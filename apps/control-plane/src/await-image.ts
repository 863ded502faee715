/** Waits until Docks can start from a version of an image that a builder has built. Run by script/image. */
import { setTimeout as delay } from 'node:timers/promises'
import { listBuiltImages } from './modules/storage/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const patienceMs = 30_000
const [name = '', version = ''] = process.argv.slice(2)

await runOnDatabase('image', async (db) => {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const image = (await listBuiltImages(db)).find((each) => each.name === name)
    if (image?.available && (version === '' || image.builtAs === version))
      return `${name} is ready. Docks start from ${image.version}.`
    if (Date.now() > deadline)
      throw new Error(
        `${name} is built as ${version}, but this machine has not reported it as a builder. See script/builders and logs/host-agent.log.`,
      )
    await delay(250)
  }
})
