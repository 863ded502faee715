import * as z from 'zod'
import { image } from '../objects/docks.ts'
import { route } from '../route.ts'

export const imageRoutes = {
  listImages: route({
    method: 'GET',
    path: '/v1/images',
    summary: 'List the images of the catalog',
    description: '`available` is true if an online host has the image, so that a Dock can start from it now.',
    tag: 'Images',
    access: { credentials: 'caller', scope: 'person' },
    response: z.array(image),
    errors: [],
  }),
} as const
