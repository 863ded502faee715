import { exampleAccountObjects } from './example-account-objects.ts'
import { exampleBodies } from './example-bodies.ts'
import { exampleGithubObjects } from './example-github-objects.ts'
import { exampleObjects } from './example-objects.ts'
import { exampleWebhookObjects } from './example-webhook-objects.ts'

/** An example of each object of the document, by name. Tests validate them. */
export const examples: Readonly<Record<string, object>> = {
  ...exampleObjects,
  ...exampleAccountObjects,
  ...exampleBodies,
  ...exampleGithubObjects,
  ...exampleWebhookObjects,
}
