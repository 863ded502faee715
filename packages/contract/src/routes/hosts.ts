import * as z from 'zod'
import * as field from '../fields.ts'
import { declaredLost, hostCredential, hostDetail, hostSummary, hostTest } from '../objects/hosts.ts'
import { hostVersions } from '../objects/operator.ts'
import { route } from '../route.ts'

const hostParams = z.object({ id: field.uuid })

export const hostRoutes = {
  listHosts: route({
    method: 'GET',
    path: '/v1/hosts',
    summary: 'List the hosts, ordered by id',
    description: 'A host is a machine on which Docks run.',
    tag: 'Hosts',
    access: { credentials: 'instance-admin' },
    response: z.array(hostSummary),
    errors: ['instance_admin_required', 'email_verification_required'],
  }),
  readHost: route({
    method: 'GET',
    path: '/v1/hosts/:id',
    summary: 'Read a host with the Docks on it',
    description: 'Also shows what the host runs that matches no Dock.',
    tag: 'Hosts',
    access: { credentials: 'instance-admin' },
    params: hostParams,
    response: hostDetail,
    errors: ['host_not_found', 'instance_admin_required', 'email_verification_required'],
    notFound: 'host_not_found',
  }),
  /** Extension: not part of the specification. */
  readHostVersions: route({
    method: 'GET',
    path: '/v1/hosts/:id/versions',
    summary: 'Read the runtime, the images, the warm pool and the free room of a host',
    description: 'Figures are those of the last report of the host.',
    extension: true,
    tag: 'Hosts',
    access: { credentials: 'instance-admin' },
    params: hostParams,
    response: hostVersions,
    errors: ['host_not_found', 'instance_admin_required', 'email_verification_required'],
    notFound: 'host_not_found',
  }),
  resetHostCredential: route({
    method: 'POST',
    path: '/v1/hosts/:id/reset-credential',
    summary: 'Replace the credential of a host; the new one is shown once',
    description: 'The previous credential no longer works. Store the new one on the host.',
    tag: 'Hosts',
    access: { credentials: 'instance-admin-session' },
    params: hostParams,
    response: hostCredential,
    errors: ['session_required', 'host_not_found', 'instance_admin_required', 'email_verification_required'],
    notFound: 'host_not_found',
    noStore: true,
  }),
  /** Extension: not part of the specification. */
  declareHostLost: route({
    method: 'POST',
    path: '/v1/hosts/:id/declare-lost',
    summary: 'Declare a silent host lost, so that no operation waits for it',
    description:
      'Use it for a host that will not come back. Docks on it lose what was not captured. It cannot be undone.',
    extension: true,
    tag: 'Hosts',
    access: { credentials: 'instance-admin-session' },
    params: hostParams,
    response: declaredLost,
    errors: [
      'session_required',
      'host_not_found',
      'conflict',
      'instance_admin_required',
      'email_verification_required',
    ],
    notFound: 'host_not_found',
  }),
  /** Extension: not part of the specification. */
  testHost: route({
    method: 'POST',
    path: '/v1/hosts/:id/self-test',
    summary: 'Boot a machine on a host, measure it, and remove it',
    description:
      'The machine is like a new Dock of the usual size, on an image that the host has. Answers `conflict` while another test of the host runs or the host has no image, and `service_unavailable` if the host cannot be reached or the test fails.',
    extension: true,
    tag: 'Hosts',
    access: { credentials: 'instance-admin' },
    params: hostParams,
    response: hostTest,
    errors: [
      'host_not_found',
      'conflict',
      'service_unavailable',
      'instance_admin_required',
      'email_verification_required',
    ],
    notFound: 'host_not_found',
  }),
} as const
