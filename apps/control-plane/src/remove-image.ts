/** Removes an own image from the catalog after script/image has removed it from this machine's pool. Run by script/image. */
import { setTimeout as delay } from 'node:timers/promises'
import { listBuildersOf, removeVersions } from './modules/storage/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const patienceMs = 30_000
const [name = ''] = process.argv.slice(2)

await runOnDatabase('image', async (db) => {
  const deadline = Date.now() + patienceMs
  // This machine reports within seconds that it has removed the image. Before that it could publish it once more.
  for (;;) {
    const builders = await listBuildersOf(db, name)
    if (builders.length === 0) break
    if (Date.now() > deadline) {
      const hosts = builders.map(({ id, state }) => `${id} (${state})`).join(', ')
      throw new Error(
        `${name} stays in the catalog, because these hosts have built it: ${hosts}. Run script/image --remove ${name} on them first, or script/builders remove HOST.`,
      )
    }
    await delay(250)
  }
  await removeVersions(db, name, new Date())
  return `${name} is removed. Other hosts delete it within a minute or when they return. Docks made from it keep their disks.`
})
