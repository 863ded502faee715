/** What a Run takes from its installation at the trigger. Later changes of the installation do not reach it. */
export type RunSettings = {
  /** Id of an Environment. Null: the organization's default one. */
  environment: string | null
  budgetUsd: number
  timeoutSeconds: number
  model: string | null
  /** The administrator's command, for the agent `command`. */
  commandTemplate: string | null
  allowWorkflowFiles: boolean
}
