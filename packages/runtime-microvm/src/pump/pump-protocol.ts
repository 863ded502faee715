/** What a driver asks of the pump, over HTTP on a Unix socket. */
import * as z from 'zod'

/** `POST /programs`: takes a program over. The response begins when the pump has its streams, and ends with its end. */
export const takeProgram = z.object({
  machine: z.string(),
  /** Unix socket of the guest's second port. */
  socket: z.string(),
  program: z.number().int(),
  /** Process whose descriptors become the program's streams: input, output, error output. The pump opens them again. */
  pid: z.number().int(),
  descriptors: z.tuple([z.number().int(), z.number().int(), z.number().int()]),
})
export type TakeProgram = z.infer<typeof takeProgram>

/** Body of the response: null if the machine ended first. */
export const programEnd = z
  .object({
    exitCode: z.number().int().nullable(),
    signal: z.number().int().nullable(),
    killedForMemory: z.array(z.string()),
  })
  .nullable()
export type ProgramEnd = z.infer<typeof programEnd>

/** `GET /programs/:machine/:program`: waits for the end. 404 if the pump does not know the program. */
export function pathOfProgram(machine: string, program: number): string {
  return `/programs/${machine}/${program}`
}
