import type { Environment } from '@dock/sdk'

export type PostureName = {
  [Name in keyof Environment]: Environment[Name] extends boolean ? Name : never
}[keyof Environment] &
  `pass${string}`

export const withheld =
  'Withholds everything below, whatever the switches say. Turn it on before you let people or programs that you do not trust into its Docks.'

/** What each switch means, in the sentence for its position. */
export const postures: readonly { name: PostureName; label: string; on: string; off: string }[] = [
  {
    name: 'passSecrets',
    label: 'Variables and secret files',
    on: 'Docks get the variables in their shell, and the files in their work folder.',
    off: 'Docks get no variables and no files. They stay stored here.',
  },
  {
    name: 'passGithub',
    label: 'Repositories',
    on: 'Docks clone the repositories, run their setup scripts, and may fetch and push.',
    off: 'Docks clone nothing and get no access to the repositories.',
  },
  {
    name: 'passDockCredentials',
    label: 'An API key of Dock',
    on: 'Each Dock gets DOCK_API_KEY, which acts as the person who made the Dock. It is replaced at each change and ends with the Dock.',
    off: 'Docks cannot call the API of Dock.',
  },
  {
    name: 'passAgentsCredentials',
    label: 'Provider keys',
    on: "Docks get the organization's keys for model providers, unless a variable of the same name is set.",
    off: "Docks do not get the organization's keys for model providers.",
  },
]
