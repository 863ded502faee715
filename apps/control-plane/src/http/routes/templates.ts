/** Routes of Templates. */
import {
  createTemplate,
  deleteTemplate,
  listTemplates,
  readTemplate,
  searchTemplates,
  type TemplatesModule,
} from '../../modules/templates/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function templateHandlers({ context, gates }: Pick<TemplatesModule, 'context' | 'gates'>): Handlers {
  return {
    createTemplate: ({ caller, body }) => createTemplate(context, gates, caller, body),
    listTemplates: ({ caller }) => listTemplates(context.db, caller),
    searchTemplates: ({ caller }) => searchTemplates(context.db, caller),
    readTemplate: ({ caller, params }) => readTemplate(context.db, caller, params.name),
    deleteTemplate: ({ caller, params }) => deleteTemplate(context, caller, params.name),
  }
}
