/** Routes of the instance: its configuration, images and contact form. */
import { type InstanceContext, listImages, readConfig, sendContact } from '../../modules/instance/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function instanceHandlers(context: InstanceContext): Handlers {
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
