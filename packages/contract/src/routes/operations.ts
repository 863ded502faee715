import * as z from 'zod'
import { operation } from '../objects/operations.ts'
import { route } from '../route.ts'

export const operationRoutes = {
  readOperation: route({
    method: 'GET',
    path: '/v1/operations/:id',
    summary: 'Poll an operation until it is completed',
    description:
      'Work that takes longer than a request is an operation. It is `completed` when all its steps are done, and `blocked` while it waits for a host.',
    tag: 'Operations',
    access: { credentials: 'caller', scope: { operation: 'params.id' }, role: 'member' },
    params: z.object({ id: z.string() }),
    response: operation,
    errors: ['operation_not_found'],
    notFound: 'operation_not_found',
  }),
} as const
