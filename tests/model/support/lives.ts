/** Commands on an existing Dock: stop, resume, delete, patch, exec, delete a Snapshot. */
import fc from 'fast-check'
import { answered, type Command, command, failNext } from './command.ts'
import { archive, boot, giveUp, isReady, type Model, type ModelDock, pick, remove, setTtl } from './model.ts'
import { codeOf, type Failure, type System } from './system.ts'

/** Creates a command that needs at least one Dock. */
const onDock = <Body extends { index: number }>(
  name: string,
  body: Body,
  run: (dock: ModelDock, model: Model, system: System) => Promise<[unknown, unknown]>,
): Command => {
  const title = `${name} ${JSON.stringify(body)}`
  return command({
    name: title,
    check: (model) => model.docks.length > 0,
    run: async (model, system) => answered(title, ...(await run(pick(model, body.index)!, model, system))),
  })
}

const stop = (body: { index: number; force: boolean; failure: Failure }): Command =>
  onDock('stop', body, async (dock, model, system) => {
    const { force, failure } = body
    failNext(system, force ? 'destroy' : 'stop', failure)
    let state: string | undefined
    const work = system.calls.stop(dock.id, force)
    const code = await codeOf(work.then((answer) => (state = answer.state)))
    const actual = [code, state]
    const abandoned = model.lost && force
    if (dock.state === 'archived' || (dock.state === 'archiving' && !abandoned))
      return [actual, ['done', dock.state]]
    if (abandoned && (dock.state === 'archiving' || dock.state === 'unreachable')) {
      giveUp(model, dock)
      return [actual, ['done', 'archived']]
    }
    const stoppable = isReady(dock) || (dock.state === 'error' && dock.hasDisk)
    if (!stoppable) return [actual, ['conflict', undefined]]
    if (dock.pending !== null) return [actual, ['dock_busy', undefined]]
    if (model.online && failure === 'failed') {
      dock.billingPaused = true
      if (dock.stopAt !== null && dock.stopAt <= model.now) dock.stopAt = model.now + 600
      return [actual, ['service_unavailable', undefined]]
    }
    if (model.online && failure === null) {
      archive(model, dock, force)
      return [actual, ['done', 'archived']]
    }
    if (abandoned) {
      giveUp(model, dock)
      return [actual, ['done', 'archived']]
    }
    Object.assign(dock, { state: 'archiving', pending: force ? 'forced-stop' : 'stop' })
    return [actual, ['done', 'archiving']]
  })

const resume = (body: { index: number; ttlSeconds?: number | null; failure: Failure }): Command =>
  onDock('resume', body, async (dock, model, system) => {
    const { ttlSeconds, failure } = body
    failNext(system, 'start', failure)
    const request = ttlSeconds === undefined ? {} : { ttlSeconds }
    const code = await codeOf(system.calls.resume(dock.id, request))
    if (dock.state !== 'archived' || dock.snapshots === 0) return [code, 'conflict']
    if (!model.online) return [code, 'no_host_capacity']
    if (failure !== null) {
      dock.generation += 1
      return [code, 'service_unavailable']
    }
    if (ttlSeconds !== undefined) dock.ttlSeconds = ttlSeconds
    boot(model, dock)
    return [code, 'done']
  })

const drop = (body: { index: number; failure: Failure }): Command =>
  onDock('delete', body, async (dock, model, system) => {
    const failure = body.failure === 'failed' ? null : body.failure
    const onHost = dock.hasDisk || dock.placed
    failNext(system, 'destroy', onHost ? failure : null)
    let status: string | undefined
    const code = await codeOf(system.calls.remove(dock.id).then((operation) => (status = operation.status)))
    const actual = [code, status]
    if (dock.pending === 'delete')
      return [
        [code, status === 'completed'],
        ['done', false],
      ]
    // A delete replaces a blocked stop. It waits for a silent host, where the Dock may run, until the host is lost.
    const waits = onHost && !model.lost && (!model.online || failure !== null)
    if (waits) dock.pending = 'delete'
    else remove(model, dock)
    return [actual, ['done', waits ? 'blocked' : 'completed']]
  })

const dropSnapshot = (body: { index: number; failure: Failure }): Command =>
  onDock('delete snapshot of', body, async (dock, _model, system) => {
    const failure = body.failure === 'failed' ? null : body.failure
    const { calls } = system
    const snapshot = await calls.findSnapshot(dock.id)
    if (!snapshot) return [dock.snapshots, 0]
    failNext(system, 'destroyCapture', failure)
    let status: string | undefined
    const code = await codeOf(calls.removeSnapshot(snapshot).then((operation) => (status = operation.status)))
    if (dock.pending !== null) return [code, 'snapshot_in_use']
    // The host is told to delete the capture when it reports again.
    dock.snapshots -= 1
    return [status, 'completed']
  })

const patch = (body: { index: number; ttlSeconds?: number | null; name?: string }): Command =>
  onDock('patch', body, async (dock, model, system) => {
    const { index: _, ...request } = body
    const code = await codeOf(system.calls.update(dock.id, request))
    const taken = model.docks.some((other) => other !== dock && other.name === body.name)
    if (taken) return [code, 'dock_name_taken']
    if (body.name !== undefined) dock.name = body.name
    if (body.ttlSeconds !== undefined) setTtl(dock, body.ttlSeconds)
    return [code, 'done']
  })

export type ExecFailure = Exclude<Failure, 'lost'> | 'busy'

const exec = (body: { index: number; text: string; key: string | null; failure: ExecFailure }): Command =>
  onDock('exec', body, async (dock, model, system) => {
    const { text, key, failure } = body
    if (failure) system.failNext('exec', failure)
    let stdout: string | undefined
    const code = await codeOf(system.calls.exec(dock.id, text, key).then((written) => (stdout = written)))
    const earlier = key === null ? undefined : dock.execs.get(key)
    if (earlier === null) return [code, 'exec_result_expired']
    if (earlier !== undefined) return [stdout, earlier]
    if (!isReady(dock)) return [code, 'dock_not_running']
    dock.used = true
    if (model.online && failure === 'busy') return [code, 'rate_limited']
    const ran = model.online && failure === null
    if (key !== null) dock.execs.set(key, ran ? text : null)
    return ran ? [stdout, text] : [code, 'exec_failed']
  })

const index = fc.nat({ max: 5 })

/** Returns the commands, with arbitrary failures and TTLs. */
export function lives(
  failure: fc.Arbitrary<Failure>,
  execFailure: fc.Arbitrary<ExecFailure>,
  ttlSeconds: fc.Arbitrary<number | null>,
): fc.Arbitrary<Command>[] {
  const ofStop = fc.record({ index, force: fc.boolean(), failure }).map(stop)
  const ofResume = fc
    .record({ index, ttlSeconds, failure }, { requiredKeys: ['index', 'failure'] })
    .map(resume)
  const ofExec = fc
    .record({
      index,
      text: fc.constantFrom('one', 'two'),
      key: fc.option(fc.constantFrom('x', 'y'), { freq: 2 }),
      failure: execFailure,
    })
    .map(exec)
  const name = fc.constantFrom('ada', 'bob', 'cy')
  return [
    ofStop,
    ofStop,
    ofResume,
    ofResume,
    ofExec,
    ofExec,
    fc.record({ index, failure }).map(drop),
    fc.record({ index, failure }).map(dropSnapshot),
    fc.record({ index, ttlSeconds, name }, { requiredKeys: ['index'] }).map(patch),
  ]
}
