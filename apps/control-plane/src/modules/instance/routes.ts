/** Routes of the instance: its configuration, images and contact form. */
import type { Handlers } from '../../routing/handler.ts'
import { type ImagesContext, listImages } from './images.ts'
import { type InstanceFacts, readConfig } from './read-config.ts'
import { type ContactContext, sendContact } from './send-contact.ts'

export type InstanceContext = ImagesContext & {
  facts: InstanceFacts
  contact: ContactContext
  isGithubAppConfigured(): Promise<boolean>
}

export function instanceRoutes(context: InstanceContext): Handlers {
  return {
    readConfig: async () =>
      readConfig({
        ...context.facts,
        githubAppConfigured: await context.isGithubAppConfigured(),
      }),
    sendContact: ({ body, clientAddress }) => sendContact(context.contact, body, clientAddress),
    listImages: () => listImages(context),
  }
}
