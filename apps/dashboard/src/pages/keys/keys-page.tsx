import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { ApiKeysTab } from './api-keys-tab.tsx'
import { ConnectionsTab } from './connections-tab.tsx'
import { keyTabNames, keyTabs } from './key-tabs.ts'
import { ProviderKeysTab } from './provider-keys-tab.tsx'
import { SshKeysTab } from './ssh-keys-tab.tsx'

const route = getRouteApi('/shell/keys')

const tabs = {
  api: ApiKeysTab,
  ssh: SshKeysTab,
  providers: ProviderKeysTab,
  connections: ConnectionsTab,
} as const

/** Keys for programs, machines and providers, and the accounts that are connected. */
export function KeysPage() {
  const { tab = 'api' } = route.useSearch()
  const Tab = tabs[tab]
  return (
    <Page title="Keys">
      <TabLinks label="Kinds of keys">
        {keyTabs.map((each) => (
          <Link
            key={each}
            to="/keys"
            search={{ tab: each }}
            aria-current={each === tab ? 'page' : undefined}
            className={tabClass}
          >
            {keyTabNames[each]}
          </Link>
        ))}
      </TabLinks>
      <Tab />
    </Page>
  )
}
