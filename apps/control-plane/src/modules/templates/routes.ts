/** Routes of Templates. */
import type { Handlers } from '../../routing/handler.ts'
import { createTemplate, type TemplateGates } from './create-template.ts'
import { deleteTemplate } from './delete-template.ts'
import { listTemplates, readTemplate, searchTemplates } from './read-templates.ts'
import type { TemplateContext } from './template-context.ts'

export function templateRoutes(context: TemplateContext, gates: TemplateGates): Handlers {
  return {
    createTemplate: ({ caller, body }) => createTemplate(context, gates, caller, body),
    listTemplates: ({ caller }) => listTemplates(context.db, caller),
    searchTemplates: ({ caller }) => searchTemplates(context.db, caller),
    readTemplate: ({ caller, params }) => readTemplate(context.db, caller, params.name),
    deleteTemplate: ({ caller, params }) => deleteTemplate(context, caller, params.name),
  }
}
