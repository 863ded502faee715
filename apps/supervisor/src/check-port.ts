import { createServer } from 'node:net'

/** Throws an error that says what to do if the address cannot be listened on. */
export function checkPort(
  bind: string,
  port: number,
  setting = { name: 'PORT', example: '8081' },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'EADDRINUSE'
            ? `Port ${port} is taken on ${bind}. Stop the program that uses it, or choose another port: ${setting.name}=${setting.example} script/server`
            : `Dock cannot listen on ${bind}:${port} (${error.code}). Set DOCK_BIND and ${setting.name} to an address of this machine.`,
        ),
      ),
    )
    probe.listen(port, bind, () => probe.close(() => resolve()))
  })
}
