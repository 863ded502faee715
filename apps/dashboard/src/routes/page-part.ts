import { lazyRouteComponent } from '@tanstack/react-router'
import { loadPatiently } from '../lib/load-patiently.ts'

/** A page whose code is loaded when its address is opened, or when somebody points at a link to it. */
export function pagePart<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => loadPatiently(load), name)
}
