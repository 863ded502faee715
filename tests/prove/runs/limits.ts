/** Where a Run ends, whatever its agent does: at its budget, at a stop, and at its branch. */
import { setTimeout as delay } from 'node:timers/promises'
import { run as runIn } from '../../e2e/support/dock.ts'
import { type ModelServer, outputTokens } from './model-server.ts'
import { eventually, type RunProof, rounds, spread, timeOf } from './run-proof.ts'

const endMsMax = 5_000
const budgetCents = 100

/** A command that asks the model once, and prints the status. */
export const askModel: string = `curl -s -o /dev/null -w '%{http_code}\\n' -H 'content-type: application/json' \\
  -d '{"model":"gpt-5","max_completion_tokens":${outputTokens}}' "$RUN_DOOR/model/openai/v1/chat/completions"`

/** The agent asks again and again, also twenty times at once, and goes on after the refusal. */
export async function proveBudget(
  proof: RunProof,
  model: ModelServer,
  environmentId: string,
  count: number,
): Promise<void> {
  const { world, check } = proof
  const agents = {
    'one request after another': `while :; do ${askModel}; done`,
    'twenty requests at once': `for i in $(seq 20); do ${askModel} & done; wait; sleep 600`,
  }
  for (const [name, command] of Object.entries(agents))
    await rounds(count, async () => {
      model.asked.length = 0
      const asked = await proof.ask(`echo x >file; ${command}`, {
        settings: { environmentId, budgetCents },
      })
      const run = await proof.until(asked, ['failed'])
      const tookMs = timeOf(run, 'failed') - Math.max(...model.asked.map(({ answeredAt }) => answeredAt))
      const { costUsd, budgetUsd } = await world.server.client.call('readRunCost', {
        params: { id: run.id },
        query: {},
      })
      const refused = (await world.readLog(run.id)).split('\n').filter((line) => line === '403').length
      check(
        `the budget is reached by ${name}: failed within 5 s, no pull request`,
        run.completionStatus === 'budget_exhausted' && run.prNumber === null && tookMs <= endMsMax,
        `${run.failureReason} ${tookMs} ms after the last answer, ${refused} refused`,
      )
      check(
        'its cost is shown, and exceeds the budget by one request at most',
        costUsd >= budgetUsd && costUsd <= budgetUsd + model.requestUsd,
        `$${costUsd} of $${budgetUsd}, a request $${model.requestUsd}`,
      )
      await proof.clear()
    })
}

/** Each leaves the agent's tree in a different way. */
const leaving = `
setsid sleep 77701 & nohup sleep 77702 >/dev/null 2>&1 & (sleep 77703 &)
(env -i setsid setsid sleep 77704 &) ; (env -i unshare --user --map-root-user setsid sleep 77705 &)
(sudo setsid nohup sleep 77706 >/dev/null 2>&1 &)
(setsid bash -c 'trap "" TERM HUP INT; while :; do date +%N >>more; git add .; git commit -qm more; git push -q origin HEAD; done' &)
echo begun; sleep 77700`
const alive = `for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <"$file" 2>/dev/null; echo; done | grep -c '[s]leep 7770\\|[w]hile :; do date' || true`

/** The agent has detached processes, one of which pushes all the time. */
export async function proveStop(proof: RunProof, count: number): Promise<void> {
  const { world, check } = proof
  const times: number[] = []
  let left = 0
  let pushedLate = 0
  await rounds(count, async () => {
    const asked = await proof.ask(leaving)
    const run = await proof.untilLogged(asked, 'begun')
    const head = () => world.github.git.find(asked.repository, `refs/heads/${run.branch}`)
    await eventually('a push', head)
    const begin = Date.now()
    await proof.stop(run)
    await delay(500)
    const before = await head()
    const stopped = await proof.until(asked, ['stopped'])
    times.push(timeOf(stopped, 'stopped') - begin)
    const found = Number(await runIn(world.server, run.dockId!, alive))
    if (found > 0) left += 1
    await delay(3_000)
    if ((await head()) !== before) pushedLate += 1
    await proof.clear()
  })
  const { p50, max } = spread(times)
  check(
    `${count} stops: each tree is dead within 5 s`,
    left === 0 && max <= endMsMax,
    `p50 ${p50} ms, max ${max} ms, ${left} left processes`,
  )
  check('nothing is pushed after the stop', pushedLate === 0, `${pushedLate} of ${count}`)
}

const refusedPushes = {
  'HEAD:main': 'this Dock may not push to this branch',
  'HEAD:refs/heads/other': 'this Dock may not push to this branch',
  'HEAD:refs/tags/v1': 'this Dock may push branches only',
  ':main': 'this Dock may not push to this branch',
  ':$RUN_BRANCH': 'this Dock may not delete branches',
}

export async function provePushes(proof: RunProof): Promise<void> {
  const { world, check } = proof
  const attempts = Object.keys(refusedPushes)
    .map((refspec, index) => `echo "== ${index}"; git push origin "${refspec}"`)
    .join('\n')
  const asked = await proof.ask(`
echo x >>README; git commit -qam 'Change the README'; git push -q origin HEAD && echo pushed
${attempts}
echo "== elsewhere"; git push "$(git ls-remote --get-url origin | sed 's/app-[0-9]*/elsewhere/')" HEAD:x
echo "== end"; exit 0`)
  const run = await proof.until(asked, ['pr_opened'])
  const log = await world.readLog(run.id)
  check('control: a push to the branch of the Run passes', log.startsWith('pushed\n'))
  for (const [index, [refspec, reason]] of Object.entries(refusedPushes).entries()) {
    const told = log.split(`== ${index}\n`)[1]?.split('\n==')[0] ?? ''
    check(`a push of ${refspec} is refused, and git says why`, told.includes(reason), told.trim())
  }
  const told = log.split('== elsewhere\n')[1]?.split('\n==')[0] ?? ''
  check('a push to another repository is refused', /is not among the repositories/.test(told), told.trim())
  const { git } = world.github
  const refs = await git.run(asked.repository, 'for-each-ref', '--format=%(refname:short)')
  const others = refs.split('\n').filter((each) => !each.startsWith('dock/issue-'))
  const onMain = await git.run(asked.repository, 'rev-list', '--count', 'main')
  check(
    'nothing else is in the repository',
    others.join(' ') === 'main' && onMain === '1',
    `${others.join(' ')}, ${onMain} commit on main`,
  )
  const late = await eventually('the Dock', () =>
    runIn(
      world.server,
      run.dockId!,
      'cd ~/work/* && date >late && git add . && git commit -qm late && (git push origin HEAD 2>&1 || true)',
    ),
  )
  check('a push after the end is refused', /fatal:|rejected/.test(late), late.trim())
  await proof.clear()
}
