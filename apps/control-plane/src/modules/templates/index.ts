/** Public interface of the Templates module. */

export { createTemplate } from './create-template.ts'
export { deleteTemplate } from './delete-template.ts'
export { createTemplatesModule, type TemplatesModule } from './module.ts'
export { listTemplates, readTemplate } from './read-templates.ts'
