import { createServer } from 'node:net'

/** Throws with what to do when the address cannot be listened on. */
export function checkPort(bind: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'EADDRINUSE'
            ? `Port ${port} is taken on ${bind}. Stop what listens there, or choose another: PORT=8081 script/server`
            : `Dock cannot listen on ${bind}:${port} (${error.code}). Set DOCK_BIND and PORT to an address of this machine.`,
        ),
      ),
    )
    probe.listen(port, bind, () => probe.close(() => resolve()))
  })
}
