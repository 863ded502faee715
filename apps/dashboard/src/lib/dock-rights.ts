/** What the service lets the person do with a Dock. Actions that it would refuse are not offered, and say why. */
import { useQuery } from '@tanstack/react-query'
import { listedDockQuery } from '../api/dock-queries.ts'
import { retentionQuery } from '../api/people-queries.ts'
import { meQuery, organizationsQuery } from '../api/queries.ts'
import { mayDelete, type Person } from './may-delete.ts'
import { reaches } from './roles.ts'

/** Returns the person, and their role in each organization. Undefined while that is not known. */
export function usePerson(): Person | undefined {
  const { data: me } = useQuery(meQuery)
  const { data: organizations } = useQuery(organizationsQuery)
  if (!me || !organizations) return undefined
  return { id: me.id, roleIn: (wanted) => organizations.find(({ id }) => id === wanted)?.role }
}

export const deleteRefusal = 'Only its creator and the admins of its organization may delete it.'

export type DockRights = {
  /** True while it is not known what the person may do. */
  isPending: boolean
  /** Why the person may not delete the Dock. Undefined if they may. */
  delete: string | undefined
  /** Why the person may not stop it. */
  stop: string | undefined
  /** Why the person may not make a Template of it. */
  freeze: string | undefined
}

/** Returns what the person may do with this Dock. */
export function useDockRights(id: string): DockRights {
  const { data: dock } = useQuery(listedDockQuery(id))
  const person = usePerson()
  const { data: retention } = useQuery({
    ...retentionQuery(dock?.organizationId ?? ''),
    enabled: dock?.organizationId !== undefined,
  })
  if (!dock || !person) return { isPending: true, delete: undefined, stop: undefined, freeze: undefined }
  const owns = mayDelete(dock, person)
  return {
    isPending: false,
    delete: owns ? undefined : deleteRefusal,
    stop:
      retention?.enabled && !owns
        ? 'The organization keeps no data, so a stop deletes it. Only its creator and admins may do that.'
        : undefined,
    freeze: reaches(person.roleIn(dock.organizationId), 'admin')
      ? undefined
      : 'Only admins of the organization may make Templates.',
  }
}
