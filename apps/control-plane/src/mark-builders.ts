/** Lists and changes which hosts may publish images, directly in the database. Run by script/builders. */
import { isUuid } from '@dock/foundation'
import { listBuilderMarks, markBuilder } from './modules/hosts/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const [action, hostId = ''] = process.argv.slice(2)

await runOnDatabase('builders', async (db) => {
  if (action === 'add' || action === 'remove') {
    if (!isUuid(hostId) || !(await markBuilder(db, hostId, action === 'add')))
      throw new Error(`There is no host ${hostId}. Run script/builders without arguments to list the hosts.`)
  }
  const hosts = await listBuilderMarks(db)
  return hosts
    .map(
      ({ id, address, state, isBuilder }) =>
        `${id}  ${isBuilder ? 'builder' : '-      '}  ${state}  ${address}`,
    )
    .join('\n')
})
