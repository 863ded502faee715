import type { ImagesContext } from './images.ts'
import type { InstanceFacts } from './read-config.ts'
import type { ContactContext } from './send-contact.ts'

export type InstanceContext = ImagesContext & { facts: InstanceFacts; contact: ContactContext }

export type InstanceModule = { context: InstanceContext }

export function createInstanceModule({
  defaultImage,
  listBuilt,
  facts,
  contact,
}: InstanceContext): InstanceModule {
  return { context: { defaultImage, listBuilt, facts, contact } }
}
