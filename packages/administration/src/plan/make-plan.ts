import { configurationError, foldedUsername } from '@grantry/core'
import { areEqual, type Members } from '../differences.ts'
import { formerProblem, returnedSecrets } from '../former-secrets.ts'
import { pagesOf } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import type { Managers } from '../managers.ts'
import { refusalOf, refused } from '../refusal.ts'
import { assertUser, type StoredUser } from '../users/user.ts'
import { concurrently } from './concurrently.ts'
import type { Declaration, DeclaredEntry } from './declaration.ts'
import { type PlannedEntry, type PlannedKind, plannedKinds } from './planned-kind.ts'

const userOf = ({ value }: PlannedEntry): StoredUser => value as unknown as StoredUser

function formProblem(entry: PlannedEntry): readonly string[] {
  try {
    assertUser(userOf(entry))
    return []
  } catch (thrown) {
    return [`${entry.where}: ${(thrown as Error).message}`]
  }
}

/** Returns what is wrong with declared users: their form, and names that two users would have. */
async function userProblems(users: readonly PlannedEntry[], managers: Managers): Promise<readonly string[]> {
  const problems = users.flatMap(formProblem)
  if (problems.length > 0) return problems
  const owners = new Map<string, PlannedEntry>()
  for (const entry of users) {
    const { username } = userOf(entry)
    const owner = owners.get(foldedUsername(username))
    if (owner === undefined) owners.set(foldedUsername(username), entry)
    else problems.push(`${entry.where}: the name ${username} is that of ${owner.where}, too`)
  }
  await concurrently(users, async (entry) => {
    const { sub, username } = userOf(entry)
    const owner = await managers.users.find(username)
    if (owner === undefined || owner.id === sub) return
    // The names of both could change together, but not in one step.
    problems.push(
      `${entry.where}: the user ${owner.id} in the storage has the name ${username}; change that user first`,
    )
  })
  return problems
}

/**
 * Refuses to remove scopes that clients in the storage have, before anything is removed. For files without clients: those
 * of other files are checked together.
 *
 * @throws RefusedError `in_use`
 */
async function assertScopesUnused(removed: readonly string[], { clients }: Managers): Promise<void> {
  if (removed.length === 0) return
  const names = new Set(removed)
  for await (const page of pagesOf(clients.page)) {
    for (const { id, value } of page.entries) {
      const scope = value.scopes?.find((each) => names.has(each))
      if (scope === undefined) continue
      const message = `the scope ${scope} cannot be removed: the client ${id} has it; change the client first, or keep the scope`
      throw refused('in_use', message)
    }
  }
}

/** An entry that differs between the files and the storage. */
export interface PlannedChange {
  readonly action: 'add' | 'change' | 'remove'
  readonly kind: PlannedKind
  readonly id: string
  /** The entry in the storage, in the version that the plan has seen; absent before it is added. */
  readonly stored?: Managed<Members> | undefined
  /** The entry after the change; absent when it is removed. */
  readonly next?: Pick<Managed<Members>, 'value' | 'tags'> | undefined
}

export interface Plan {
  /** In the order in which they are made. */
  readonly changes: readonly PlannedChange[]
  /** Number of declared entries that need no change. */
  readonly unchanged: number
  /** All entries that are declared, as they are after the plan. */
  readonly declared: readonly PlannedEntry[]
}

export interface PlanOptions {
  /** Whether entries that the files do not have are removed, for each list that at least one file has. */
  readonly prune: boolean
}

type Stored = ReadonlyMap<string, Managed<Members>>

/** Reads the entries that are declared; all of the kind if others are removed. */
async function readStored(
  kind: PlannedKind,
  entries: readonly DeclaredEntry[],
  managers: Managers,
  prune: boolean,
): Promise<Stored> {
  const manager = kind.managerOf(managers)
  const stored = new Map<string, Managed<Members>>()
  if (!prune) {
    await concurrently(entries, async ({ id }) => {
      const entry = await manager.show(id).catch((thrown: unknown) => {
        if (refusalOf(thrown)?.reason === 'not_found') return undefined
        throw thrown
      })
      if (entry !== undefined) stored.set(id, entry)
    })
    return stored
  }
  for await (const page of pagesOf(manager.page)) {
    const [unknown] = page.unreadable
    // It is not known whether the plan would remove this entry.
    if (unknown !== undefined) {
      const message = `the stored ${kind.type.noun} ${unknown} has an unknown form; a newer version may have written it`
      throw refused('unreadable', message)
    }
    for (const entry of page.entries) stored.set(entry.id, entry)
  }
  return stored
}

/** Returns the former secrets of an entry that was removed, if the new one has secrets. */
const formerOf = async (kind: PlannedKind, id: string, { secrets }: Members, managers: Managers) =>
  Array.isArray(secrets) && secrets.length > 0 ? kind.managerOf(managers).formerSecrets(id) : []

const pick = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)))
const omit = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

/** Returns the new value of a stored entry. It keeps the members that the file does not determine. */
const merged = ({ plan: { kept, initial } }: PlannedKind, declared: Members, stored: Members): Members => ({
  ...pick(stored, [...kept(declared), ...initial]),
  ...omit(declared, initial),
})

/** A new entry as it will be, but for its secret. */
const completed = ({ plan: { complete } }: PlannedKind, value: Members): Members =>
  complete === undefined ? value : complete(value, () => 'not created yet').value

/** Returns the names of the members that differ, the labels among them. */
export function changedMembers({ kind, stored, next }: PlannedChange): readonly string[] {
  const [before, after] = [stored, next].map((entry): Members => ({ ...entry?.value, tags: entry?.tags ?? [] }))
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const isSet = (name: string): boolean => name === 'tags' || kind.plan.sets.includes(name)
  return names.filter((name) => !areEqual(before?.[name], after?.[name], isSet(name))).sort()
}

/**
 * Compares what files declare with the storage. An entry of a file is complete: members that it does not have get their
 * defaults, except for those that the kind keeps.
 *
 * @throws RefusedError for an entry that a newer version, or another program, has written.
 * @throws TypeError for wrong users. `configurationProblems()` returns all mistakes.
 */
export async function makePlan(declaration: Declaration, managers: Managers, { prune }: PlanOptions): Promise<Plan> {
  const writes: PlannedChange[] = []
  const removals: PlannedChange[] = []
  const problems: string[] = []
  const declared: PlannedEntry[] = []
  let unchanged = 0
  for (const kind of plannedKinds) {
    const entries = declaration.get(kind)
    if (entries === undefined) continue
    const stored = await readStored(kind, entries, managers, prune)
    for (const { id, value, tags, where } of entries) {
      const current = stored.get(id)
      const next = { value: current === undefined ? value : merged(kind, value, current.value), tags }
      // Refuses a file that is older than a rotation.
      const former = current === undefined ? await formerOf(kind, id, value, managers) : current.formerSecrets
      const returned = returnedSecrets(former, current?.value ?? {}, next.value)
      problems.push(...returned.map((index) => `${where}: ${formerProblem(kind.type, id, index)}`))
      const checked = current === undefined ? completed(kind, value) : next.value
      // Checks members without an effect, too: they could contain a plain password, for example.
      declared.push({ kind, value: { ...checked, ...pick(value, kind.plan.initial) }, where })
      const change: PlannedChange = {
        action: current === undefined ? 'add' : 'change',
        kind,
        id,
        stored: current,
        next,
      }
      // If an earlier change has failed before its end, a change to the same value finishes it.
      const isSame = current?.unfinished === undefined && changedMembers(change).length === 0
      if (current !== undefined && isSame) unchanged += 1
      else writes.push(change)
    }
    const ids = new Set(entries.map(({ id }) => id))
    const others = prune ? [...stored.values()].filter(({ id }) => !ids.has(id)) : []
    removals.unshift(
      ...others.map(({ id, ...rest }) => ({ action: 'remove', kind, id, stored: { id, ...rest } }) as const),
    )
  }
  const declaresClients = [...declaration.keys()].some(({ list }) => list === 'clients')
  const removedScopes = removals.filter(({ kind }) => kind.list === 'scopes').map(({ id }) => id)
  if (!declaresClients) await assertScopesUnused(removedScopes, managers)
  const users = declared.filter(({ kind }) => kind.list === 'users')
  const [problem, ...others] = [...problems, ...(await userProblems(users, managers))]
  if (problem !== undefined) throw configurationError([problem, ...others])
  return { changes: [...writes, ...removals], unchanged, declared }
}
