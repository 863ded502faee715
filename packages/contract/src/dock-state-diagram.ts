/** The state diagram of docs/states.md, made from the table of transitions. */
import {
  type DockState,
  type DockTransitions,
  dockStates,
  dockTransitions,
  initialDockState,
} from './dock-state.ts'

/** Returns a Mermaid state diagram with one arrow for each pair of states, labelled with its causes. */
export function dockStateDiagram(): string {
  const transitions: DockTransitions = dockTransitions
  const arrows = dockStates.flatMap((from) =>
    Object.entries(transitions[from]).map(
      ([to, causes]: [string, readonly string[]]) => `  ${from} --> ${to}: ${causes.join(', ')}`,
    ),
  )
  return [
    'stateDiagram-v2',
    `  [*] --> ${initialDockState satisfies DockState}: create, branch`,
    ...arrows,
  ].join('\n')
}
