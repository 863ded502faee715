/** Extensions, not part of the specification: sign-in of a machine without a browser, in the shape of RFC 8628. */
import * as z from 'zod'
import { limits } from '../limits.ts'
import { deviceCode, deviceCodeProgress } from '../objects/device-codes.ts'
import { route } from '../route.ts'

const { machineNameLength, codeLength } = limits.deviceCodes

export const deviceCodeRoutes = {
  createDeviceCode: route({
    method: 'POST',
    path: '/v1/device/code',
    summary: 'Start the sign-in of a machine, which a person approves in a browser',
    description:
      'The shape of RFC 8628. Show the person userCode and verificationUrl, keep deviceCode secret, and poll POST /v1/device/token every intervalSeconds until expiresAt.',
    extension: true,
    tag: 'Keys',
    access: { credentials: 'public' },
    status: 201,
    body: z.strictObject({
      /** Becomes the key's name. Characters that could deceive a reader are removed, and a long name is cut. */
      machineName: z.string().min(machineNameLength.min).max(machineNameLength.max),
    }),
    response: deviceCode,
    errors: ['validation_error', 'rate_limited'],
    noStore: true,
  }),
  redeemDeviceCode: route({
    method: 'POST',
    path: '/v1/device/token',
    summary: 'Poll whether a person approved the sign-in; returns the API key once',
    description:
      'The states pending and slow_down ask for another poll after intervalSeconds, which grows with slow_down. forbidden says that the person denied it; device_code_expired that the code is unknown, expired or used. The key is made when it is fetched, has all rights of the person but those that need a browser, and is named after the machine.',
    extension: true,
    tag: 'Keys',
    access: { credentials: 'public' },
    body: z.strictObject({ deviceCode: z.string().min(codeLength.min).max(codeLength.max) }),
    response: deviceCodeProgress,
    errors: [
      ...['validation_error', 'rate_limited', 'forbidden', 'device_code_expired'],
      ...['account_closed', 'email_verification_required', 'api_key_limit_reached'],
    ] as const,
    noStore: true,
  }),
} as const
