/** The fixture of `dock-codes.test.ts`, and the type of its triggers. */
import type { RouteName, Routes } from '@dock/contract'
import type { ControlPlaneWithHost, TestPerson } from '@dock/testkit'

export type Reply = { status: number; code: string | undefined; data: unknown }

/** Triggers an error code and returns the response, or states why the code cannot occur. */
export type Trigger = ((fixture: Fixture) => Promise<Reply>) | { because: string }

type DockRoute = {
  [Name in RouteName]: Routes[Name]['tag'] extends 'Docks' | 'Operations' | 'Images' ? Name : never
}[RouteName]

/** A trigger for every code of every Dock route, except the generic codes. A missing trigger does not compile. */
export type Triggers<Name extends DockRoute = DockRoute> = {
  readonly [Each in Name]: { readonly [Code in Routes[Each]['errors'][number]]: Trigger }
}

/** A new organization with an owner and a member. */
export type Fixture = {
  server: ControlPlaneWithHost
  owner: TestPerson
  member: TestPerson
  organizationId: string
  workspaceId: string
  /** Sends a request as the owner, or as another person. */
  ask(
    method: string,
    path: string,
    body?: object,
    options?: { as?: TestPerson | undefined; headers?: Record<string, string> },
  ): Promise<Reply>
  /** Tries to open the WebSocket of a terminal. Returns the refusal. */
  upgrade(path: string): Promise<Reply>
}
