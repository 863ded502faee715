/** One Dock service and one caller: everything that does not belong to one Dock. */
import type { Client } from './client.ts'
import { type ConnectOptions, clientOf } from './connect.ts'
import { type CreateOptions, Dock } from './dock.ts'
import { Environments } from './environments.ts'
import type { Abortable } from './request-options.ts'
import { Snapshots } from './snapshots.ts'
import { Templates } from './templates.ts'

export class DockService {
  /** Calls any route of the service: `client.call('readMe')`. */
  readonly client: Client
  readonly snapshots: Snapshots
  readonly templates: Templates
  readonly environments: Environments

  constructor(options: ConnectOptions = {}) {
    this.client = clientOf(options)
    this.snapshots = new Snapshots(this.client)
    this.templates = new Templates(this.client)
    this.environments = new Environments(this.client)
  }

  /** Creates a Dock and returns it when it is ready. */
  create(options: CreateOptions = {}): Promise<Dock> {
    return Dock.create({ ...options, client: this.client })
  }

  /** Returns a Dock by id or name. */
  get(idOrName: string, options: Abortable = {}): Promise<Dock> {
    return Dock.get(idOrName, { ...options, client: this.client })
  }

  /** Returns all Docks that you can see. */
  list(options: Abortable = {}): Promise<Dock[]> {
    return Dock.list({ ...options, client: this.client })
  }
}
