// Users in a memory storage whose operations can be reordered, or end with the process.
import { openAdministration, pagesOf, refusalOf } from '@grantry/administration'
import { type AtomicDriver, foldedUsername, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect } from 'vitest'

const issuer = 'https://id.example.com'

const operations = ['getItem', 'insertItem', 'replaceItem', 'setItem', 'removeItem', 'listKeys'] as const
const writes: readonly string[] = ['insertItem', 'replaceItem', 'setItem', 'removeItem']

/** Calls `around` for each operation of a driver. */
function wrapped(driver: AtomicDriver, around: <T>(name: string, act: () => Promise<T>) => Promise<T>): AtomicDriver {
  const methods = operations.map((name) => {
    const method = driver[name] as (...args: unknown[]) => unknown
    return [name, (...args: unknown[]) => around(name, async () => method.apply(driver, args))]
  })
  return { ...driver, getItems: undefined, commit: undefined, ...Object.fromEntries(methods) }
}

/** A driver whose waiting operations run one at a time, in an order that `pick` determines. */
export function reordered(driver: AtomicDriver, pick: (count: number) => number): AtomicDriver {
  const waiting: (() => void)[] = []
  const step = (): void => {
    waiting.splice(pick(waiting.length), 1)[0]?.()
    if (waiting.length > 0) setImmediate(step)
  }
  return wrapped(driver, async (_name, act) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(step)
    })
    return act()
  })
}

/** A driver whose process dies at its write number `at`: after it was stored, or before. Nothing works afterwards. */
export function dying(driver: AtomicDriver, at: number, isStored: boolean): AtomicDriver & { readonly writes: number } {
  const state = { writes: 0 }
  const died = (): never => {
    throw new Error('the process died')
  }
  const wrappedDriver = wrapped(driver, async (name, act) => {
    if (writes.includes(name)) state.writes += 1
    if (state.writes < at) return act()
    if (state.writes === at && writes.includes(name) && isStored) await act()
    state.writes = Math.max(state.writes, at + 1)
    return died()
  })
  return Object.defineProperty(wrappedDriver as AtomicDriver & { readonly writes: number }, 'writes', {
    get: () => state.writes,
  })
}

/** What an administrator does on a driver. Passwords are hashed to themselves. */
export function administratorOn(storage: AtomicDriver) {
  const entries = openEntries({ issuer, storage })
  const revoked: unknown[] = []
  const administration = openAdministration({
    entries,
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async (password) => `hash of ${password.length} characters`,
    revoke: async (target) => void revoked.push(target),
  })
  const { users } = administration.as({ who: 'alice' })
  const trail = async () => (await administration.audit({ limit: 100 })).records
  return { entries, users, revoked, trail }
}

export type Users = ReturnType<typeof administratorOn>['users']

/** Returns the reason of a refusal; `undefined` if the call succeeded. Any other error is a defect. */
export const reasonOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(
    () => undefined,
    (thrown: unknown) => {
      const refusal = refusalOf(thrown)
      if (refusal === undefined) throw thrown
      return refusal.reason
    },
  )

/** Expects that no two users have one name, and that each user is found by its own. Returns the names. */
export async function expectConsistentNames(storage: AtomicDriver): Promise<readonly string[]> {
  const { users } = administratorOn(storage)
  const all = []
  for await (const { entries } of pagesOf(users.page)) all.push(...entries.map(({ value }) => value))
  const names = all.map(({ username }) => foldedUsername(username))
  expect(new Set(names).size).toBe(names.length)
  for (const { sub, username } of all) expect((await users.find(username))?.id).toBe(sub)
  return all.map(({ username }) => username).sort()
}

export const newStorage = (): AtomicDriver => memoryDriver()
