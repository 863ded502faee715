/** Public interface of the Templates module. */
export { createTemplate, type TemplateGates } from './operations/create-template.ts'
export { deleteTemplate } from './operations/delete-template.ts'
export { listTemplates, readTemplate } from './operations/read-templates.ts'
export { createDeleteTemplateSaga, createSaveTemplateSaga } from './template-saga.ts'
export {
  dockHasConnectors,
  removeTemplates,
  type TemplateSource,
  templateForCreate,
  wipeTemplates,
} from './template-store.ts'
