/** Which changes of hosts, Runs and installations the live stream tells, and whom. */
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  openLiveStream,
  startControlPlaneWithHost,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { noteWarmPool } from '../hosts/host-store.ts'

let server: ControlPlaneWithHost
let admin: { cookie: string; origin: string }
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  admin = await server.signIn()
})
afterAll(() => server.stop())

it('tells instance admins of hosts, and of Docks on them, but of no heartbeat that changes little', async () => {
  const { db } = server.database
  const person = await addPerson(server, { instanceAdmin: true })
  const { id } = await db.selectFrom('hosts').select('id').executeTakeFirstOrThrow()
  const other = newUuid()
  await sql`insert into hosts (id, address, credential_hash, runtime, cpu_family, kernel, boot_id, vcpu_total,
      mem_total_bytes, disk_total_bytes, max_docks, images, state, mem_available_bytes, disk_free_bytes, created_at)
    select ${other}, '10.0.0.9', decode('09', 'hex'), runtime, cpu_family, kernel, boot_id, 1, 1000, 1000, 1, '{}', 'offline',
      1000, 1000, now() from hosts where id = ${id}`.execute(db)
  const stream = await openLiveStream(server, { cookie: person.cookie, origin: server.config.apiUrl })
  await stream.next()
  const heartbeat = (memory: number, running = 0) =>
    sql`update hosts set last_heartbeat_at = now(), running_docks = ${running}, mem_available_bytes = ${memory}
      where id = ${other}`.execute(db)
  const noted = async () =>
    (
      await sql<{
        n: number
      }>`select count(*)::int as n from live_changes where subject_id = ${other}`.execute(db)
    ).rows[0]!.n
  const before = await noted()
  await heartbeat(990)
  await heartbeat(985)
  expect(await noted()).toBe(before)
  await heartbeat(600)
  await stream.change({ kind: 'host', id: other })
  await heartbeat(600, 1)
  await stream.change({ kind: 'host', id: other })
  await noteWarmPool(db, other)
  await stream.change({ kind: 'host', id: other })
  // A Dock of an organization that the admin does not belong to.
  await server.addDock()
  await stream.change({ kind: 'host', id: '' })
  await sql`insert into quarantine (id, kind, thing_id, state, first_seen_at)
    values (gen_random_uuid(), 'objects', gen_random_uuid(), 'held', now())`.execute(db)
  await stream.change({ kind: 'quarantine' })
  await sql`update organizations set name = 'Renamed' where id = ${server.admin.organizationId}`.execute(db)
  await stream.change({ kind: 'plan' })
  await stream.leave()
})

it('tells members of the Runs and of what is linked with GitHub', async () => {
  const { db } = server.database
  const { organizationId, workspaceId, userId } = await server.database.db
    .selectFrom('workspaces as w')
    .innerJoin('memberships as m', 'm.organization_id', 'w.organization_id')
    .select(['w.id as workspaceId', 'w.organization_id as organizationId', 'm.user_id as userId'])
    .where('w.organization_id', '=', server.admin.organizationId)
    .executeTakeFirstOrThrow()
  const stream = await openLiveStream(server, admin)
  await stream.next()
  const [installation, run, turn] = [newUuid(), newUuid(), newUuid()]
  await sql`insert into github_installations (id, provider_installation_id, organization_id, workspace_id, created_by,
      agent, created_at, updated_at)
    values (${installation}, 1, ${organizationId}, ${workspaceId}, ${userId}, 'command', now(), now())`.execute(
    db,
  )
  await stream.change({ kind: 'installation', id: installation, organizationId })
  await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    values (1, ${installation}, 'acme/app', 'main', now())`.execute(db)
  await stream.change({ kind: 'installation', id: installation })
  await sql`insert into runs (id, organization_id, workspace_id, installation_id, provider_installation_id, repository_id,
      repo, issue_number, created_by, execution_target, state, branch, base_branch, agent, settings, created_at, updated_at)
    values (${run}, ${organizationId}, ${workspaceId}, ${installation}, 1, 1, 'acme/app', 1, ${userId}, 'dock', 'pending',
      'b', 'main', 'command', '{}', now(), now())`.execute(db)
  await stream.change({ kind: 'run', id: run, organizationId })
  await sql`insert into run_turns (id, run_id, number, repository_id, trigger_key, actor, instruction, text,
      has_outsider_text, created_at)
    values (${turn}, ${run}, 1, 1, 'comment:1', 'ann', '', '{}', false, now())`.execute(db)
  await stream.change({ kind: 'run', id: run })
  await sql`insert into run_events (run_id, type, at) values (${run}, 'provisioning', now())`.execute(db)
  await stream.change({ kind: 'run', id: run })
  await sql`update run_turns set cost_micro_usd = 10 where id = ${turn}`.execute(db)
  await stream.change({ kind: 'run', id: run })
  await sql`insert into run_logs (turn_id, at_byte, text) values (${turn}, 0, 'one')`.execute(db)
  await stream.change({ kind: 'run_log', id: run })
  await sql`update run_turns set ended_at = now() where id = ${turn}`.execute(db)
  await stream.change({ kind: 'run_log', id: run })
  await sql`update runs set state = 'failed' where id = ${run}`.execute(db)
  await stream.change({ kind: 'run_log', id: run })
  await stream.change({ kind: 'run', id: run })
  await sql`delete from github_installations where id = ${installation}`.execute(db)
  await stream.change({ kind: 'installation', id: installation })
  await stream.leave()
})
