import { isUuid } from '@dock/foundation'
import type { Verb } from './verb.ts'

/** Shows or changes which hosts may publish images for all hosts. Images that a removed builder has published stay. */
export const builders: Verb = {
  usage: '[list] | add HOST | remove HOST',
  summary: 'lists or changes the hosts whose images other hosts receive',
  read: ([action = 'list', host, ...rest]) => {
    const isChange = action === 'add' || action === 'remove'
    if (rest.length > 0 || (action !== 'list' && !isChange) || isChange !== (host !== undefined))
      return undefined
    return async (db) => {
      const { listBuilderMarks, markBuilder } = await import('../modules/hosts/index.ts')
      if (host !== undefined && (!isUuid(host) || !(await markBuilder(db, host, action === 'add'))))
        throw new Error(`There is no host ${host}. Run script/admin builders to list the hosts.`)
      const hosts = await listBuilderMarks(db)
      return hosts
        .map(
          ({ id, address, state, isBuilder }) =>
            `${id}  ${isBuilder ? 'builder' : '-      '}  ${state}  ${address}`,
        )
        .join('\n')
    }
  },
}
