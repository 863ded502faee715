/** Every page of the dashboard with its parts and dialogs. */
import type { Lively } from './lively-data.ts'
import { docks } from './pages/docks.ts'
import { environments } from './pages/environments.ts'
import { operators } from './pages/operators.ts'
import { organizations } from './pages/organizations.ts'
import { runs } from './pages/runs.ts'
import type { ShownDialog, ShownPage } from './pages/shown-page.ts'
import { signedOut } from './pages/signed-out.ts'
import { snapshots } from './pages/snapshots.ts'
import { yours } from './pages/yours.ts'

/** The navigation of narrow pages, which is hidden on others. */
export const drawer: ShownDialog = {
  ...{ name: 'drawer', shows: 'Environments' },
  opener: (page) => page.getByRole('button', { name: 'Open the navigation' }),
}

export function pagesOf(lively: Lively): ShownPage[] {
  return [signedOut, docks, snapshots, environments, organizations, yours, runs, operators].flatMap((list) =>
    list(lively),
  )
}
