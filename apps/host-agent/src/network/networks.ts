/**
 * The interface of the networks of Docks. All operations are idempotent: a call that a crash interrupted is repeated, and
 * removing something that does not exist succeeds.
 */

/** A Dock's network namespace, with its addresses and routes. */
export type DockNetwork = { netnsPath: string; ip: string; gateway: string; nameserver: string }

/** The networks of this host's Docks. */
export type Networks = {
  /** Sets up what all Docks share: forwarding, filter rules, the name forwarder. */
  setUp(): Promise<void>
  /**
   * Creates the Dock's network, in the {@link reserve}d namespace if one is given. If it already exists, returns it.
   */
  create(dockId: string, reserved?: string): Promise<DockNetwork>
  /** Reserves the network namespace of a later Dock, and returns its path. The next agent removes the namespace. */
  reserve(): Promise<string>
  /** Ends a reservation, so that any Dock may get the namespace. Does nothing if a Dock has it. */
  release(netnsPath: string): Promise<void>
  destroy(dockId: string): Promise<void>
  /** Restores the addresses and routes that a sandbox took over when it started. */
  restore(dockId: string): Promise<DockNetwork>
  /** Returns the Dock's network, or null if it has none. */
  find(dockId: string): DockNetwork | null
  /** Returns the bytes that the Dock received and sent since its network was created. */
  traffic(dockId: string): Promise<{ rxBytes: number; txBytes: number }>
  /** Returns the ids of all Docks that have a network. */
  list(): Promise<string[]>
  /** Removes what {@link Networks.setUp} made. The networks of all Docks must have been destroyed. */
  tearDown(): Promise<void>
}
