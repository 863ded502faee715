/**
 * The names of the document's schemas. Each exported object and enumeration of `objects/` is a schema named like its type:
 * `dockProcess` is `DockProcess`. A route's other objects are named after the route: `CreateDockBody`, `ReadMeResult`.
 */
import * as z from 'zod'
import * as events from '../events.ts'
import * as field from '../fields.ts'
import * as account from '../objects/account.ts'
import * as audit from '../objects/audit.ts'
import * as billing from '../objects/billing.ts'
import * as dashboard from '../objects/dashboard.ts'
import * as deviceCodes from '../objects/device-codes.ts'
import * as docks from '../objects/docks.ts'
import * as environments from '../objects/environments.ts'
import * as files from '../objects/files.ts'
import * as github from '../objects/github.ts'
import * as hosts from '../objects/hosts.ts'
import * as keys from '../objects/keys.ts'
import * as limits from '../objects/limits.ts'
import * as live from '../objects/live.ts'
import * as operations from '../objects/operations.ts'
import * as operator from '../objects/operator.ts'
import * as organizations from '../objects/organizations.ts'
import * as processes from '../objects/processes.ts'
import * as runs from '../objects/runs.ts'
import * as snapshots from '../objects/snapshots.ts'
import * as templates from '../objects/templates.ts'
import * as webhooks from '../objects/webhooks.ts'
import type { Route } from '../route.ts'
import { routes } from '../routes.ts'

const { deleted, removed, role, runtimeName } = field
const objects: readonly object[] = [
  { deleted, removed, role, runtimeName },
  ...[
    account,
    audit,
    billing,
    dashboard,
    deviceCodes,
    docks,
    environments,
    events,
    files,
    github,
    hosts,
    keys,
    limits,
    live,
    operations,
    operator,
    organizations,
  ],
  ...[processes, runs, snapshots, templates, webhooks],
]

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const isNamed = (value: unknown): value is z.ZodType =>
  value instanceof z.ZodObject || value instanceof z.ZodEnum || value instanceof z.ZodDiscriminatedUnion

/** Returns the object that a route's response is, or of which it is a list; undefined for text. */
const objectOf = (schema: z.ZodType): z.ZodType | undefined => {
  if (schema instanceof z.ZodNullable) return objectOf(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodArray) return objectOf(schema.element as z.ZodType)
  return isNamed(schema) ? schema : undefined
}

const collect = (): Map<z.ZodType, string> => {
  const names = new Map<z.ZodType, string>()
  for (const exported of objects)
    for (const [name, value] of Object.entries(exported))
      if (isNamed(value) && !names.has(value)) names.set(value, capitalized(name))
  for (const [name, { body, response }] of Object.entries<Route>(routes)) {
    if (body && !names.has(body)) names.set(body, `${capitalized(name)}Body`)
    const object = objectOf(response)
    if (object && !names.has(object)) names.set(object, `${capitalized(name)}Result`)
  }
  return names
}

let names: Map<z.ZodType, string> | undefined

/** Returns the name of every schema that the document defines under `components`. */
export function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  names ??= collect()
  return names
}
