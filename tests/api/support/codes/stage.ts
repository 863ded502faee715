/** What the scenes of `dock-codes.test.ts` play on, and how they are written down. */
import type { RouteName, Routes } from '@dock/contract'
import type { ControlPlaneWithHost, TestPerson } from '@dock/testkit'

export type Reply = { status: number; code: string | undefined; data: unknown }

/** Makes the case happen and answers what the service said; or why nothing can bring it about. */
export type Scene = ((stage: Stage) => Promise<Reply>) | { because: string }

type DockRoute = {
  [Name in RouteName]: Routes[Name]['tag'] extends 'Docks' | 'Operations' | 'Images' ? Name : never
}[RouteName]

/** One for every code of every Dock route beyond the generic ones: a code without a scene does not compile. */
export type Scenes<Name extends DockRoute = DockRoute> = {
  readonly [Each in Name]: { readonly [Code in Routes[Each]['errors'][number]]: Scene }
}

/** A fresh organization with one member beside its owner. */
export type Stage = {
  server: ControlPlaneWithHost
  owner: TestPerson
  member: TestPerson
  organizationId: string
  workspaceId: string
  /** As the owner, or as somebody else. */
  ask(
    method: string,
    path: string,
    body?: object,
    options?: { as?: TestPerson | undefined; headers?: Record<string, string> },
  ): Promise<Reply>
  /** The WebSocket of a terminal. */
  upgrade(path: string): Promise<Reply>
}
