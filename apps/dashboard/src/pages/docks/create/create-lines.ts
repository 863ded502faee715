/** The lines that do what the form does: curl, the command line, and the SDK. */
import { type CallOptions, type RuntimeName, shellWords } from '@dock/sdk'

type CreateBody = CallOptions<'createDock'>['body']
/** A create: its body, and the runtime that it asks for. */
export type NewDock = { body: CreateBody; runtime?: RuntimeName }

/** Returns the body without fields that only repeat a default. */
const given = (body: CreateBody): [string, unknown][] =>
  Object.entries(body).filter(
    ([key, value]) =>
      value !== undefined &&
      value !== null &&
      value !== false &&
      !(key === 'env' && Object.keys(value as object).length === 0),
  )

export function curlLine(origin: string, { body, runtime }: NewDock): string {
  const json = JSON.stringify(Object.fromEntries(given(body)))
  return [
    'curl -fsS -H "authorization: Bearer $DOCK_API_KEY" -H \'content-type: application/json\'',
    ...(runtime === undefined ? [] : [`-H 'x-dock-runtime: ${runtime}'`]),
    shellWords([`${origin}/v1/docks`, '-d', json]),
  ].join(' ')
}

const seconds = (value: number): string =>
  value % 86_400 === 0 ? `${value / 86_400}d` : value % 3600 === 0 ? `${value / 3600}h` : `${value}s`

/** A script goes to standard input, between two lines that it does not have itself. */
const scriptLines = (script: string): string => {
  let mark = 'SETUP'
  while (script.split('\n').includes(mark)) mark += '_'
  return ` <<'${mark}'\n${script}\n${mark}`
}

export function cliLine({ body, runtime }: NewDock): string {
  const { name, cpus, memoryMiB, diskGiB, ttlSeconds, image, from, environment, env, setupScript } = body
  const words = [
    'dock',
    'create',
    // A name that begins with a dash would be taken for a flag.
    ...(name === undefined || name.startsWith('-') ? [] : [name]),
    ...(cpus === undefined ? [] : ['--cpus', String(cpus)]),
    ...(memoryMiB === undefined ? [] : ['--memory', `${memoryMiB}M`]),
    ...(diskGiB === undefined ? [] : ['--disk', `${diskGiB}G`]),
    ...(ttlSeconds ? ['--ttl', seconds(ttlSeconds)] : []),
    ...(image === undefined ? [] : ['--image', image]),
    ...(from === undefined ? [] : ['--from', from]),
    ...(runtime === undefined ? [] : ['--runtime', runtime]),
    ...(environment === undefined ? [] : ['--environment', environment]),
    ...(body.noEnv ? ['--no-environment'] : []),
    '--workspace',
    body.workspaceId,
    ...Object.entries(env ?? {}).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...(setupScript ? ['--setup', '-'] : []),
    ...(name?.startsWith('-') ? ['--', name] : []),
  ]
  return shellWords(words) + (setupScript ? scriptLines(setupScript) : '')
}

export function sdkLine({ body, runtime }: NewDock): string {
  const options = [...given(body), ...Object.entries(runtime === undefined ? {} : { runtime })]
  const fields = options.map(([key, value]) => `  ${key}: ${JSON.stringify(value)},`)
  return ['const dock = await Dock.create({', ...fields, '})'].join('\n')
}
