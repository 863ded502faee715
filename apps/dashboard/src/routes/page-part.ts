import { lazyRouteComponent } from '@tanstack/react-router'
import { loadPatiently } from '../lib/load-patiently.ts'

/** A page whose code is loaded when its address is opened, or when somebody points at a link to it. */
export const pagePart: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadPatiently(load), name)
