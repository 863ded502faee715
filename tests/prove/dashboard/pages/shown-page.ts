/** How a page of the dashboard and its dialogs are described. */
import type { Locator, Page } from 'playwright-core'

export type Role = 'admin' | 'member' | 'newcomer' | 'founder' | 'unconfirmed' | 'closed' | 'nobody'

/** What opens over a page. The focus must return to `opener` when Escape closes it. */
export type ShownDialog = {
  name: string
  opener: (page: Page) => Locator
  /** Keys that open it in place of Enter on the opener. */
  keys?: string
  /** Text in it. */
  shows: string
}

export type ShownPage = {
  /** The name of its pictures. */
  name: string
  as: Role
  path: string
  /** Text that is there when the page shows its data. */
  shows: string
  /** Makes a state that has no address. */
  act?: (page: Page) => Promise<void>
  dialogs?: ShownDialog[]
}

/** An id that nothing has. */
export const nowhere = '00000000-0000-4000-8000-000000000000'

/** Finds the first button of the page with this name. */
export function button(name: string | RegExp): ShownDialog['opener'] {
  return (page) =>
    page
      .getByRole('main')
      .getByRole('button', { name, exact: typeof name === 'string' })
      .first()
}

/** Describes a dialog. `opener` may be the name of the button that opens it. */
export function dialog(name: string, opener: ShownDialog['opener'] | string, shows: string): ShownDialog {
  return { name, shows, opener: typeof opener === 'string' ? button(opener) : opener }
}
