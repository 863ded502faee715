/** Routes about the instance itself. */
import {
  type ImagesContext,
  type InstanceFacts,
  listImages,
  readConfig,
} from '../../modules/instance/index.ts'
import type { Handlers } from '../handler.ts'

export const instanceHandlers = (context: ImagesContext & { facts: InstanceFacts }): Handlers => ({
  readConfig: async () => readConfig(context.facts),
  listImages: () => listImages(context),
})
