/** The settings of the gVisor driver, from the environment of the program that uses it. */
import * as z from 'zod'

const environment = z.object({
  DOCK_RUNSC: z.string().min(1).optional(),
  DOCK_CONTROL_SOCKET: z.enum(['on', 'off']).default('on'),
})

export type GvisorSettings = {
  /** Path of the runsc program; undefined for the one that was installed beside the data. */
  runscPath: string | undefined
  /** True if commands may use the sentries' control sockets, on machines where a self-test of them succeeds. */
  controlSocket: boolean
}

/** Reads and checks the settings. Throws an error that names the variable if a value is invalid. */
export function readGvisorSettings(variables: NodeJS.ProcessEnv): GvisorSettings {
  const parsed = environment.safeParse(variables)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  const { DOCK_RUNSC, DOCK_CONTROL_SOCKET } = parsed.data
  return { runscPath: DOCK_RUNSC, controlSocket: DOCK_CONTROL_SOCKET === 'on' }
}
