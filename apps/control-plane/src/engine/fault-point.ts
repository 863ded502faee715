/** Places where a crash test kills the process: armed by `DOCK_FAULT=<name>`, otherwise free. */
const armed = process.env.DOCK_FAULT

/** Ends the process with SIGKILL when `DOCK_FAULT` names this point. */
export const faultPoint = (name: string): void => {
  if (armed === name) process.kill(process.pid, 'SIGKILL')
}
