/** DELETE /v1/templates/:name */
import { type Operation, ServiceError } from '@dock/contract'
import { newOperationId } from '@dock/foundation'
import type { EmptyData, OperationRow } from '../../engine/index.ts'
import type { Member } from '../accounts/index.ts'
import { causedBy, saveOperation } from '../docks/index.ts'
import type { TemplateContext } from './template-context.ts'
import { findReadyTemplate } from './template-store.ts'

/** Deletes a Template. Docks that started from it and its Snapshot are not affected. Throws `template_not_found`. */
export async function deleteTemplate(
  context: TemplateContext,
  member: Member,
  name: string,
): Promise<{ operation: Operation }> {
  const { organizationId } = member
  const template = await findReadyTemplate(context.db, organizationId, name)
  if (!template) throw new ServiceError('template_not_found')
  const operation: OperationRow<EmptyData> = {
    id: newOperationId(),
    organizationId,
    kind: 'delete-template',
    targetType: 'template',
    targetId: template.id,
    dockId: null,
    hostId: null,
    generation: 0,
    status: 'processing',
    step: null,
    undoing: false,
    data: { dataVersion: 1 },
    cause: causedBy(member, 'delete'),
    error: null,
  }
  await saveOperation(context, operation)
  await context.runner.run(operation)
  const { id, targetId, status } = operation
  return { operation: { id, targetType: 'template', targetId, status } }
}
