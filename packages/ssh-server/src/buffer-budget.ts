/** Bounds the bytes that wait in this process, in both directions, over all connections of one person. */

/** Returns the bytes of one connection that wait now. */
export type Measure = () => number

export type BufferShare = {
  /** Notes how many bytes wait here now. Returns true if all connections of the person have too many. */
  note(): boolean
  /** Counts another part of the same person's connections. */
  another(measure: Measure): BufferShare
  leave(): void
}

export type BufferBudget = {
  /** Counts a connection of the person until its share is left. */
  join(userId: string, measure: Measure): BufferShare
}

type Person = { total: number; known: Map<Measure, number> }

export function createBufferBudget(bytesMax: number): BufferBudget {
  const people = new Map<string, Person>()

  const set = (person: Person, measure: Measure, bytes: number): void => {
    person.total += bytes - (person.known.get(measure) ?? 0)
    person.known.set(measure, bytes)
  }
  /** Numbers are noted when they grow, so they are measured again before anybody has to wait. */
  const isExceeded = (person: Person): boolean => {
    if (person.total <= bytesMax) return false
    for (const measure of person.known.keys()) set(person, measure, measure())
    return person.total > bytesMax
  }
  const join: BufferBudget['join'] = (userId, measure) => {
    const person = people.get(userId) ?? { total: 0, known: new Map() }
    people.set(userId, person)
    set(person, measure, 0)
    return {
      note: () => {
        if (person.known.has(measure)) set(person, measure, measure())
        return isExceeded(person)
      },
      another: (other) => join(userId, other),
      leave: () => {
        set(person, measure, 0)
        person.known.delete(measure)
        if (person.known.size === 0 && people.get(userId) === person) people.delete(userId)
      },
    }
  }
  return { join }
}
