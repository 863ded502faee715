/** Routes of the instance: its configuration, images and contact form. */
import {
  type ContactContext,
  type ImagesContext,
  type InstanceFacts,
  listImages,
  readConfig,
  sendContact,
} from '../../modules/instance/index.ts'
import type { Handlers } from '../handler.ts'

export function instanceHandlers(
  context: ImagesContext & { facts: InstanceFacts; contact: ContactContext },
): Handlers {
  return {
    readConfig: async () => readConfig(context.facts),
    sendContact: ({ body, clientAddress }) => sendContact(context.contact, body, clientAddress),
    listImages: () => listImages(context),
  }
}
