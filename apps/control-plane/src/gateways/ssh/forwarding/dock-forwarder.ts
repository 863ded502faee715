/** Starts the forwarding program of a connection in the Dock when it is first needed, and again if it has ended. */
import { readFileSync } from 'node:fs'
import type { BufferShare } from '@dock/ssh-server'
import { openDockProcess } from '../../../modules/docks/index.ts'
import type { Entrance } from '../find-entrance.ts'
import { requireReadyDock } from '../ready-dock.ts'
import type { SshContext } from '../ssh-context.ts'
import { createForwarder, type Forwarder } from './forwarder.ts'

export type DockForwarder = {
  /** Throws if the Dock is not ready or the person may no longer use it. */
  start(): Promise<Forwarder>
  /** Ends the program for good. Idempotent. */
  end(): void
}

const programText = readFileSync(new URL('forwarder-program.pl', import.meta.url), 'utf8')

export function createDockForwarder(
  context: SshContext,
  entrance: Entrance,
  share: BufferShare,
): DockForwarder {
  let current: Promise<Forwarder> | undefined
  let hasEnded = false

  const startProgram = async (): Promise<Forwarder> => {
    const dock = await requireReadyDock(context, entrance)
    const program = await openDockProcess(context.docks, dock, {
      argv: ['/usr/bin/perl', '-e', programText],
      env: {},
      cwd: '/',
    })
    const forwarder = createForwarder(program, share, () => {
      current = undefined
    })
    if (hasEnded) forwarder.end()
    return forwarder
  }
  return {
    start: () => {
      if (hasEnded) return Promise.reject(new Error('the connection has closed'))
      current ??= startProgram().catch((error: unknown) => {
        current = undefined
        throw error
      })
      return current
    },
    end: () => {
      hasEnded = true
      current?.then(
        (forwarder) => forwarder.end(),
        () => undefined,
      )
    },
  }
}
