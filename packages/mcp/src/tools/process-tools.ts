/** Tools that run commands and read the output of processes. */
import type { Client, DockProcess } from '@dock/sdk'
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addTool, commandInput, dockInput, findDock } from '../add-tool.ts'
import { clipMiddle, fitBytes, readSome } from '../clip.ts'
import { dataCharactersMax, toolResult } from '../tool-result.ts'
import { visibleText } from '../visible-text.ts'

const cwd = z.string().min(1).max(1024).optional().describe('Default: /home/user/work')
const half = dataCharactersMax / 2

/** Clips two texts together: a short one leaves its room to the other. */
const clipBoth = (stdout: string, stderr: string): [string, string] => {
  const forStdout = Math.max(half, dataCharactersMax - stderr.length)
  const forStderr = Math.max(half, dataCharactersMax - stdout.length)
  return [clipMiddle(stdout, forStdout), clipMiddle(stderr, forStderr)]
}

/** Returns the result with the outputs that are not empty, and says which they are. */
const withOutputs = (facts: string, outputs: { stdout: string; stderr: string }) => {
  const present = Object.entries(outputs).filter(([, text]) => text !== '')
  const names = present.map(([name]) => name).join(', ')
  return toolResult(
    `${facts} ${names === '' ? 'No output.' : `Blocks that follow: ${names}.`}`,
    ...present.map(([, text]) => text),
  )
}

const stateOf = ({ state, exitCode, signal }: DockProcess): string => {
  if (state !== 'ended') return 'It runs.'
  return signal === null ? `It ended with exit code ${exitCode}.` : `Signal ${signal} ended it.`
}

export function addProcessTools(server: McpServer, client: Client): void {
  addTool(
    server,
    'run_command',
    {
      title: 'Run a command',
      description:
        'Runs a command in a login bash to its end and returns its exit code, stdout and stderr. For servers and for what takes longer, use start_process.',
      input: z.strictObject({
        dock: dockInput,
        command: commandInput,
        cwd,
        timeoutSeconds: z.int().min(1).max(600).default(45),
      }),
    },
    async ({ dock, command, cwd: folder, timeoutSeconds }, signal) => {
      const found = await findDock(client, dock, signal)
      const at = folder === undefined ? {} : { cwd: folder }
      const result = await found.exec(command, { ...at, timeoutSeconds, signal })
      const [stdout, stderr] = [visibleText(result.stdout), visibleText(result.stderr)]
      const clipped = clipBoth(stdout, stderr)
      const isClipped = result.truncated || clipped[0] !== stdout || clipped[1] !== stderr
      const readOn = isClipped
        ? ' The output was clipped. To read all of it, run the command again with its output in a file, and use read_file with offsets.'
        : ''
      return withOutputs(`Exit code ${result.exitCode} after ${result.durationMs} ms.${readOn}`, {
        stdout: clipped[0],
        stderr: clipped[1],
      })
    },
  )
  addTool(
    server,
    'start_process',
    {
      title: 'Start a process',
      description:
        'Starts a command that outlives this call, such as a server or a long build. read_process reads its output.',
      input: z.strictObject({ dock: dockInput, command: commandInput, cwd }),
    },
    async ({ dock, command, cwd: folder }, signal) => {
      const found = await findDock(client, dock, signal)
      const process = await found.spawn(command, {
        ...(folder === undefined ? {} : { cwd: folder }),
        // It is read by a later call, if at all.
        ...{ holdOutput: false, signal },
      })
      return toolResult(`Started process ${process.id}. Read its output with read_process.`)
    },
  )
  addTool(
    server,
    'read_process',
    {
      title: 'Read a process',
      description:
        'Returns the state of a process that start_process started, and its output from the given offsets on. Give the offsets that the last call returned to read only what is new.',
      input: z.strictObject({
        dock: dockInput,
        process: z.uuid().describe('The id that start_process returned'),
        offset: z.int().min(0).default(0).describe('First byte of stdout'),
        stderrOffset: z.int().min(0).default(0).describe('First byte of stderr'),
        waitSeconds: z.int().min(0).max(45).default(0).describe('Waits this long for the end of the process'),
        signal: z.enum(['INT', 'TERM', 'KILL', 'HUP']).optional().describe('Sent to the process first'),
      }),
    },
    async ({ dock, process: pid, offset, stderrOffset, waitSeconds, signal: sent }, signal) => {
      const found = await findDock(client, dock, signal)
      const process = found.processes.attach(pid)
      if (sent !== undefined) await process.kill(sent, { signal })
      const info =
        waitSeconds > 0
          ? await process.wait({ timeoutSeconds: waitSeconds, signal })
          : await process.info({ signal })
      const read = async (stream: 'stdout' | 'stderr', wanted: number) => {
        if (info[stream] === null) return { text: '', next: 0, lost: 0 }
        const start = Math.max(wanted, info[stream].firstOffset)
        const query = { stream, offset: start, follow: false }
        const response = await client.open('readDockProcessOutput', {
          params: { id: found.id, pid },
          query,
          signal,
        })
        const from = Number(response.headers.get('x-dock-start-offset') ?? start)
        const { bytes, isEnd } = await readSome(response, half)
        const { text, used } = fitBytes(bytes, half, isEnd && info.state === 'ended')
        return { text, next: from + used, lost: from - wanted }
      }
      const [stdout, stderr] = [await read('stdout', offset), await read('stderr', stderrOffset)]
      const lost = stdout.lost + stderr.lost
      const gone = lost > 0 ? ` ${lost} older bytes are no longer kept.` : ''
      return withOutputs(
        `${stateOf(info)} Read on with offset: ${stdout.next}, stderrOffset: ${stderr.next}.${gone}`,
        { stdout: stdout.text, stderr: stderr.text },
      )
    },
  )
}
