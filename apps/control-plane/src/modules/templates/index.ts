/** Public interface of the Templates module. */

export { createTemplate, type TemplateGates } from './create-template.ts'
export { deleteTemplate } from './delete-template.ts'
export { createTemplatesModule, type TemplatesModule } from './module.ts'
export { listTemplates, readTemplate, searchTemplates } from './read-templates.ts'
export type { TemplateContext } from './template-context.ts'
