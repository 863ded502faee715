/** Routes of Templates. */
import type { DockContext } from '../../modules/docks/index.ts'
import {
  createTemplate,
  deleteTemplate,
  listTemplates,
  readTemplate,
  type TemplateGates,
} from '../../modules/templates/index.ts'
import type { Handlers } from '../handler.ts'

export function templateHandlers(context: DockContext, gates: TemplateGates): Handlers {
  return {
    createTemplate: ({ caller, body }) => createTemplate(context, gates, caller, body),
    listTemplates: ({ caller }) => listTemplates(context.db, caller),
    readTemplate: ({ caller, params }) => readTemplate(context.db, caller, params.name),
    deleteTemplate: ({ caller, params }) => deleteTemplate(context, caller, params.name),
  }
}
