/** Pages of the dashboard with their parts and dialogs. */
import type { Lively } from './lively-data.ts'
import { docks } from './pages/docks.ts'
import { environments } from './pages/environments.ts'
import { operators } from './pages/operators.ts'
import { organizations } from './pages/organizations.ts'
import type { ShownDialog, ShownPage } from './pages/shown-page.ts'
import { snapshots } from './pages/snapshots.ts'
import { yours } from './pages/yours.ts'

/** The navigation of narrow pages, which is hidden on others. */
export const drawer: ShownDialog = {
  ...{ name: 'drawer', shows: 'Environments' },
  opener: (page) => page.getByRole('button', { name: 'Open the navigation' }),
}

/** Those of signed-in people, but for Runs and GitHub. */
export function pagesOf(lively: Lively): ShownPage[] {
  return [docks, snapshots, environments, organizations, yours, operators].flatMap((list) => list(lively))
}
