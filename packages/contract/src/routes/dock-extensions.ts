/** Extensions, not part of the specification: what a Dock's object does not say. */
import { dockLastStop } from '../objects/docks.ts'
import { route } from '../route.ts'
import { dockParams } from './docks.ts'

export const dockExtensionRoutes = {
  readDockLastStop: route({
    method: 'GET',
    path: '/v1/docks/:id/last-stop',
    summary: 'Read who or what stopped a Dock, why and when',
    description:
      'Also says why a Dock failed, or why it cannot be reached. `message` is a sentence for people. For a Dock that runs, this is its latest stop; `lastStop` is `null` if it has never stopped.',
    extension: true,
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    params: dockParams,
    response: dockLastStop,
    errors: ['dock_not_found'],
    notFound: 'dock_not_found',
  }),
} as const
