import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { config } from '../objects/account.ts'
import { route } from '../route.ts'

export const contactTopics = ['request-access', 'pricing-plans', 'business', 'cloud-waitlist'] as const

/** Public routes: callers need no credentials. */
export const instanceRoutes = {
  readConfig: route({
    method: 'GET',
    path: '/v1/config',
    summary: "Read the instance's public configuration",
    description: 'Says which features are on, and at which addresses the instance is reached.',
    tag: 'Instance',
    access: { credentials: 'public' },
    response: config,
    errors: [],
  }),
  sendContact: route({
    method: 'POST',
    path: '/v1/contact',
    summary: 'Send a message to the operators of this instance',
    description: 'The operators receive the message by email and reply to the address in it.',
    tag: 'Instance',
    access: { credentials: 'public' },
    body: z.strictObject({
      name: field.displayableName,
      email: z.email().max(limits.contact.emailLengthMax),
      company: z.string().max(limits.contact.companyLengthMax).optional(),
      topic: z.enum(contactTopics),
      message: z.string().min(limits.contact.messageLength.min).max(limits.contact.messageLength.max),
    }),
    response: z.strictObject({ sent: z.literal(true) }),
    errors: ['validation_error', 'rate_limited', 'mail_unavailable'],
  }),
} as const
