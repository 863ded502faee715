/** Public interface of the Templates module. */

export { createTemplatesModule, type TemplatesModule } from './create-templates-module.ts'
export { createTemplate, type TemplateGates } from './operations/create-template.ts'
export { deleteTemplate } from './operations/delete-template.ts'
export { listTemplates, readTemplate } from './operations/read-templates.ts'
export type { TemplateContext } from './template-context.ts'
