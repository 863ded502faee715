/** An agent works on an issue in three turns: for a mention, for a review, and in a machine that came after its first. */
import type { Run } from '@dock/contract'
import { print } from '../../../bench/parts/bench-server.ts'
import { type Asked, countAtGithub, oneOfEach } from '../runs/run-proof.ts'
import { type AgentsProof, agents, type Subject, secondsOf, untilTurn } from './agents-proof.ts'
import { hostileFiles, instructions } from './elsewhere.ts'
import { endKeeping, machineOf, searchMemory } from './machine.ts'
import { turnOf } from './scripted-agent.ts'

const nameOf = ({ agent, target }: Subject): string => `${agent} on ${target}`

export async function proveTurns(world: AgentsProof, subject: Subject): Promise<void> {
  const { proof, scripted, elsewhere, environmentId } = world
  const { agent, target } = subject
  const { model } = agents[agent]
  scripted.begin()
  const asked = await proof.ask('true', {
    ...{ agent, title: 'The footer is wrong', files: hostileFiles },
    body: `${proof.world.mention} Please fix it.`,
    settings: { environmentId, model, executionTarget: target },
  })
  const first = await proveDraft(world, subject, asked)
  const last = await proveFeedback(world, subject, asked, first)
  proveRequests(world, subject)
  await proveNothingStolen(world, subject, first)
  await proof.stop(last)
  await proof.clear()
  await elsewhere.forget()
}

/** Waits for the draft of the first turn, and looks at it. */
const proveDraft = async ({ proof }: AgentsProof, subject: Subject, asked: Asked): Promise<Run> => {
  const name = nameOf(subject)
  const { check, world } = proof
  const { repository, issueNumber } = asked
  const git = (...words: string[]) => world.github.git.run(repository, ...words)
  const run = await untilTurn(proof, asked, 1)
  print(
    `        ${name}: ${secondsOf(run, 'queued', 'agent_started')} to the agent, ${secondsOf(run, 'agent_started', 'pr_opened')} to the pull request`,
  )
  const pull = repository.issues.find(({ number }) => number === run.prNumber)
  const counts = await countAtGithub(proof, asked, run.branch!)
  check(
    `${name}: a mention leads to one draft pull request from the branch of the Run into main`,
    pull?.pull?.isDraft === true &&
      pull.pull.base === 'main' &&
      pull.pull.head === run.branch &&
      (await git('rev-parse', `${run.branch}~1`)) === (await git('rev-parse', 'main')) &&
      counts === oneOfEach,
    `${pull?.title}, ${counts}`,
  )
  check(
    `${name}: its body has the issue, the cost and the agent's report`,
    pull?.body.includes(`#${issueNumber}`) === true &&
      pull.body.includes('Its models cost ') &&
      pull.body.includes('I changed the page in turn 1.'),
    pull?.body.replaceAll('\n', ' '),
  )
  check(
    `${name}: the branch has what the model said`,
    (await git('show', `${run.branch}:work.txt`)) === 'turn 1',
  )
  const message = await git('log', '-1', '--format=%s', run.branch!)
  check(`${name}: the commit has the agent's message`, message === 'Work of turn 1', message)
  check(`${name}: it works on this target`, (run.dockId === null) === (subject.target === 'fast'))
  return run
}

/** A review, and then a comment after the machine has gone. Returns the Run after them. */
const proveFeedback = async (
  world: AgentsProof,
  subject: Subject,
  asked: Asked,
  first: Run,
): Promise<Run> => {
  const { proof, scripted } = world
  const { check } = proof
  const { github, mention } = proof.world
  const { requests } = scripted.models
  const { repository } = asked
  const name = nameOf(subject)
  const seesTurns = (turn: number): boolean => requests.some((request) => turnOf(request) === turn)

  scripted.atEnd = (turn) => (turn === 2 ? searchMemory(world, name, asked) : Promise.resolve())
  await github.review(repository, first.prNumber!, 'ada', {
    ...{ body: 'And the header.', state: 'changes_requested' },
  })
  const second = await untilTurn(proof, asked, 2)
  print(`        ${name}: ${secondsOf(second, 'feedback', 'pr_updated')} from the review to the update`)
  check(`${name}: a review continues the same session`, seesTurns(2), requests.map(turnOf).join(' '))

  const before = await machineOf(proof, second)
  await endKeeping(proof, subject.target, second)
  await github.comment(repository, first.prNumber!, 'ada', `${mention} And the sides.`)
  const third = await untilTurn(proof, asked, 3)
  print(
    `        ${name}: ${secondsOf(third, 'feedback', 'pr_updated')} from a comment to the update, after the machine had gone`,
  )
  const after = await machineOf(proof, third)
  check(
    subject.target === 'fast'
      ? `${name}: the comment gets another machine`
      : `${name}: the comment gets the same Dock`,
    (after !== before) === (subject.target === 'fast'),
  )
  check(
    `${name}: its session continues after its machine has gone`,
    seesTurns(3),
    requests.map(turnOf).join(' '),
  )
  const work = await github.git.run(repository, 'show', `${first.branch}:work.txt`)
  check(
    `${name}: the branch has the work of all turns`,
    work === 'turn 1\nturn 2\nturn 3',
    work.replaceAll('\n', ', '),
  )
  check(
    `${name}: one branch, pull request and comment`,
    (await countAtGithub(proof, asked, first.branch!)) === oneOfEach,
  )
  return third
}

/** What the models got, and what the commands of the agent returned. */
const proveRequests = ({ proof, scripted, modelKey }: AgentsProof, subject: Subject): void => {
  const { check } = proof
  const { requests } = scripted.models
  const { model, readsInstructions } = agents[subject.agent]
  const name = nameOf(subject)
  const keys = new Set(requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization))
  check(
    `${name}: each request to the model has the organization's key`,
    requests.length > 0 && [...keys].every((key) => key === modelKey || key === `Bearer ${modelKey}`),
    `${requests.length} requests`,
  )
  const named = new Set(requests.map((request) => request.model))
  check(
    `${name}: the model is the one of the settings`,
    named.has(model.split('/').at(-1)!),
    [...named].join(' '),
  )
  if (readsInstructions)
    check(
      `${name}: the model gets the repository's AGENTS.md`,
      requests.some(({ body }) => body.includes(instructions)),
    )
  const results = requests.flatMap((request) => request.results).join('\n')
  const ran = results.match(/\S+-ran/g)?.join(' ')
  check(`${name}: no plugin, hook or server of the repository ran`, results.includes('worked-1') && !ran, ran)
}

/** The model has sent the attacker what a program in the machine can read, in each turn. */
const proveNothingStolen = async (
  { proof, elsewhere, modelKey }: AgentsProof,
  subject: Subject,
  { id }: Run,
): Promise<void> => {
  const { check, world } = proof
  const name = nameOf(subject)
  const sent = await elsewhere.requests()
  const stolen = sent.filter(({ url }) => url === '/stolen')
  const text = stolen.map(({ body }) => body).join('\n')
  check(
    `${name}: control: the machine reaches the attacker, and sends what it can read`,
    stolen.length === 3 && text.includes(id),
    `${stolen.length} times, ${text.length} bytes`,
  )
  check(
    `${name}: no key and no token is in it`,
    !text.includes(modelKey) && !/gh[su]_[0-9A-Za-z]{16}/.test(text),
  )
  const others = sent.filter(({ url }) => url !== '/stolen').map(({ url }) => url)
  check(`${name}: the agent itself asks the attacker nothing`, others.length === 0, others.join(' '))
  const cost = await world.server.client.call('readRunCost', { params: { id }, query: {} })
  check(`${name}: tokens are counted`, cost.inputTokens >= 600 && cost.costUsd > 0, `$${cost.costUsd}`)
}
