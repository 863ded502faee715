import type { ImagesContext } from './images.ts'
import type { InstanceFacts } from './read-config.ts'
import type { ContactContext } from './send-contact.ts'

export type InstanceContext = ImagesContext & {
  facts: InstanceFacts
  contact: ContactContext
  isGithubAppConfigured(): Promise<boolean>
}

export type InstanceModule = { context: InstanceContext }

export function createInstanceModule(context: InstanceContext): InstanceModule {
  return { context }
}
