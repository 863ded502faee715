/** Public interface of the Templates module. */

export { createTemplatesModule, type TemplatesModule } from './create-templates-module.ts'
export { createTemplate, type TemplateGates } from './routes/create-template.ts'
export { deleteTemplate } from './routes/delete-template.ts'
export { listTemplates, readTemplate, searchTemplates } from './routes/read-templates.ts'
export type { TemplateContext } from './template-context.ts'
