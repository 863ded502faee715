/** The settings of the microVM driver, from the environment of the program that uses it. */
import * as z from 'zod'

const environment = z.object({ DOCK_MICROVM_TCG: z.enum(['allow', 'refuse']).default('refuse') })

export type MicrovmSettings = {
  /** True if machines may be emulated where KVM runs no guest. */
  allowsEmulation: boolean
}

/** Reads and checks the settings. Throws an error that names the variable if a value is invalid. */
export function readMicrovmSettings(variables: NodeJS.ProcessEnv): MicrovmSettings {
  const parsed = environment.safeParse(variables)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  return { allowsEmulation: parsed.data.DOCK_MICROVM_TCG === 'allow' }
}
