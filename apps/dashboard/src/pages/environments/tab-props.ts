import type { Environment } from '@dock/sdk'

export type TabProps = { environment: Environment; isAdmin: boolean }
