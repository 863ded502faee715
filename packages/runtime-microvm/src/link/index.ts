/**
 * The link to the agent of a guest: {@link GuestLink} speaks the wire format of agent/protocol.md over a connected stream.
 * The driver kills the machine of a link that closes with a {@link GuestViolation}.
 */
export type { GuestEnd, GuestProcess, GuestProgramState, GuestUsage } from './answers.ts'
export { GuestLink, type LinkOptions } from './guest-link.ts'
export type { GuestProgram } from './guest-program.ts'
export { LastingLink } from './lasting-link.ts'
export { GuestCallFailed, GuestRefused, GuestViolation, LinkBroken } from './link-errors.ts'
export { sizes } from './protocol.ts'
export type { GuestConfig, GuestIdentity, OpenRequest } from './requests.ts'
