/** A Dock: an isolated Linux machine that keeps its disk when it is stopped. */
import type { BodyOf } from './call-types.ts'
import type { Client } from './client.ts'
import { type ConnectOptions, clientOf, firstWorkspace } from './connect.ts'
import { DockError, hasCode, NotFoundError } from './dock-error.ts'
import { absolutePath, DockFiles } from './dock-files.ts'
import type { Process } from './dock-process.ts'
import { DockProcesses, type SpawnOptions } from './dock-processes.ts'
import type {
  Dock as DockInfo,
  DockStop,
  ExecResult,
  PortEntry,
  RuntimeName,
  Snapshot,
} from './generated/route-types.ts'
import type { Abortable } from './request-options.ts'
import { shellWords } from './shell-words.ts'
import { Snapshots } from './snapshots.ts'
import { untilCompleted } from './until-completed.ts'
import { untilState } from './until-state.ts'

export type DisposeOptions = {
  /** What the end of `await using` does. Default: `stop`, which keeps the disk. */
  onDispose?: 'stop' | 'delete' | 'keep' | undefined
}
/** What a create and a branch ask for beside their body. */
export type StartOptions = {
  idempotencyKey?: string | undefined
  /** Only a host of this runtime takes the Dock. Without it, the host decides. */
  runtime?: RuntimeName | undefined
}
/** Without `workspaceId`, the Dock is made in the first workspace of your first organization. */
export type CreateOptions = Omit<BodyOf<'createDock'>, 'workspaceId'> & {
  workspaceId?: string | undefined
} & Abortable &
  DisposeOptions &
  StartOptions
export type BranchOptions = BodyOf<'branchDock'> & Abortable & DisposeOptions & StartOptions
export type ExecOptions = Omit<BodyOf<'execInDock'>, 'command'> &
  Abortable & { idempotencyKey?: string | undefined }

const keyHeader = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

const startHeaders = ({ idempotencyKey, runtime }: StartOptions): Record<string, string> => ({
  ...keyHeader(idempotencyKey),
  ...(runtime === undefined ? {} : { 'x-dock-runtime': runtime }),
})

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

export class Dock implements AsyncDisposable {
  readonly id: string
  /** The client of this Dock, for every route that has no method here. */
  readonly client: Client
  readonly files: DockFiles
  readonly processes: DockProcesses
  #info: DockInfo
  readonly #onDispose: 'stop' | 'delete' | 'keep'

  constructor(client: Client, info: DockInfo, { onDispose = 'stop' }: DisposeOptions = {}) {
    this.id = info.id
    this.client = client
    this.#info = info
    this.#onDispose = onDispose
    this.files = new DockFiles(client, info.id)
    this.processes = new DockProcesses(client, info.id)
  }

  /** Creates a Dock and returns it when it is ready. `from` is the name of a Template. */
  static async create(options: CreateOptions & ConnectOptions = {}): Promise<Dock> {
    const { client: given, baseUrl, apiKey, fetch, retries, retryAfterSecondsMax, ...create } = options
    const client = clientOf({ client: given, baseUrl, apiKey, fetch, retries, retryAfterSecondsMax })
    const { onDispose, signal, idempotencyKey, runtime, workspaceId, ...body } = create
    const info = await client.call('createDock', {
      body: { workspaceId: workspaceId ?? (await firstWorkspace(client, signal)), ...body },
      headers: startHeaders({ idempotencyKey, runtime }),
      signal,
    })
    return new Dock(client, info, { onDispose })
  }

  /** Returns a Dock by id or name. By default, the end of `await using` leaves it alone. */
  static async get(
    idOrName: string,
    { onDispose = 'keep', signal, ...connect }: ConnectOptions & Abortable & DisposeOptions = {},
  ): Promise<Dock> {
    const client = clientOf(connect)
    if (isId(idOrName)) {
      const info = await client.call('readDock', { params: { id: idOrName }, signal })
      return new Dock(client, info, { onDispose })
    }
    const [info, another] = (await client.call('listDocks', { query: { all: true }, signal })).filter(
      ({ name }) => name === idOrName,
    )
    if (!info)
      throw new NotFoundError(
        'dock_not_found',
        404,
        `You have no Dock with the name ${JSON.stringify(idOrName)}.`,
      )
    if (another)
      throw new DockError(
        'name_ambiguous',
        `You have several Docks with the name ${JSON.stringify(idOrName)}. Use the id.`,
      )
    return new Dock(client, info, { onDispose })
  }

  /** Returns all Docks that you can see. */
  static async list({ signal, ...connect }: ConnectOptions & Abortable = {}): Promise<Dock[]> {
    const client = clientOf(connect)
    const docks = await client.call('listDocks', { query: { all: true }, signal })
    return docks.map((info) => new Dock(client, info, { onDispose: 'keep' }))
  }

  /** The Dock as it was last read; see `refresh`. */
  get info(): DockInfo {
    return this.#info
  }

  get name(): string | null {
    return this.#info.name
  }

  /** Reads the Dock again. */
  async refresh({ signal }: Abortable = {}): Promise<DockInfo> {
    this.#info = await this.client.call('readDock', { params: { id: this.id }, signal })
    return this.#info
  }

  /** Returns who or what last stopped the Dock, why and when; null if it has never stopped. */
  async lastStop({ signal }: Abortable = {}): Promise<DockStop | null> {
    return (await this.client.call('readDockLastStop', { params: { id: this.id }, signal })).lastStop
  }

  /** Renames the Dock, sets its auto-stop timer, or resizes it while it is stopped. */
  async update({ signal, ...body }: BodyOf<'updateDock'> & Abortable): Promise<DockInfo> {
    this.#info = await this.client.call('updateDock', { params: { id: this.id }, body, signal })
    return this.#info
  }

  /**
   * Runs a command to its end: a line of shell, or words that no shell reads. Its exit code is in the result. If `signal`
   * aborts, the command is ended. For output as it comes, or longer than ten minutes, use `spawn`.
   */
  exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const { signal, idempotencyKey, ...body } = options
    return this.client.call('execInDock', {
      params: { id: this.id },
      body: {
        command: typeof command === 'string' ? command : shellWords(command),
        ...body,
        cwd: body.cwd && absolutePath(body.cwd),
      },
      headers: { ...keyHeader(idempotencyKey), ...(signal ? { 'x-dock-cancel-on-disconnect': 'true' } : {}) },
      signal,
    })
  }

  /** Starts a process that outlives this program; see `processes`. */
  spawn(command: string | readonly string[], options: SpawnOptions = {}): Promise<Process> {
    return this.processes.start(command, options)
  }

  /** Exposes a port and returns its address. Repeating it is harmless. */
  port(port: number, { signal }: Abortable = {}): Promise<PortEntry> {
    return this.client.call('exposePort', { params: { id: this.id }, body: { port }, signal })
  }

  /** Returns the exposed ports. */
  ports({ signal }: Abortable = {}): Promise<PortEntry[]> {
    return this.client.call('listPorts', { params: { id: this.id }, signal })
  }

  /** Stops exposing a port. */
  async closePort(port: number, { signal }: Abortable = {}): Promise<void> {
    await this.client.call('unexposePort', { params: { id: this.id, port }, signal })
  }

  /** Copies the Dock while it runs, and returns the copy when it is ready. */
  async branch(options: BranchOptions = {}): Promise<Dock> {
    const { signal, onDispose, idempotencyKey, runtime, ...body } = options
    const headers = startHeaders({ idempotencyKey, runtime })
    const request = { params: { id: this.id }, body, headers, signal }
    return new Dock(this.client, await this.client.call('branchDock', request), { onDispose })
  }

  /** Saves the Dock as a Snapshot and stops it. Returns when it is stopped. */
  async stop({ force, signal }: Abortable & { force?: boolean | undefined } = {}): Promise<void> {
    await this.client.call('stopDock', { params: { id: this.id }, body: { force }, signal })
    await untilState(this, ['archived'], ['archiving'], signal)
  }

  /** Boots the stopped Dock and returns when it is ready. */
  async resume({ signal, ...body }: BodyOf<'resumeDock'> & Abortable = {}): Promise<void> {
    await this.client.call('resumeDock', { params: { id: this.id }, body, signal })
    await untilState(this, ['ready', 'idle', 'running'], ['provisioning', 'provisioned', 'cloning'], signal)
  }

  /** Deletes the Dock with all its Snapshots, for good. */
  async delete({ signal }: Abortable = {}): Promise<void> {
    const headers = { 'x-confirm-delete': this.id }
    const { operation } = await this.client.call('deleteDock', { params: { id: this.id }, headers, signal })
    await untilCompleted(this.client, operation, signal)
  }

  /** Returns the Snapshots of this Dock, newest first. */
  snapshots({ signal }: Abortable = {}): Promise<Snapshot[]> {
    return new Snapshots(this.client).list({ dockId: this.id, signal })
  }

  async [asyncDispose](): Promise<void> {
    if (this.#onDispose === 'keep') return
    try {
      await (this.#onDispose === 'delete' ? this.delete() : this.stop())
    } catch (error) {
      if (hasCode(error, 'dock_not_found')) return
      if (this.#onDispose === 'stop' && (await this.refresh().catch(() => null))?.state === 'archived') return
      throw error
    }
  }
}
