import { type Runtime, webRuntime } from '@grantry/core'
import type { Managers } from '../managers.ts'
import { concurrently } from './concurrently.ts'
import type { Plan, PlannedChange } from './make-plan.ts'

export interface ApplyOptions {
  /** Managers that do not check: the entries of the plan have been checked together. */
  readonly managers: Managers
  /** Keeps a new secret. It is called before the entry is stored, so that no secret is lost when the process dies. */
  readonly keepSecret: (change: PlannedChange, secret: string) => void
  /** Is called after each change. */
  readonly onDone?: ((change: PlannedChange) => void) | undefined
  readonly runtime?: Pick<Runtime, 'randomBytes' | 'base64url'> | undefined
}

/** The result of a plan. */
export interface Applied {
  readonly done: readonly PlannedChange[]
  /** The first change that failed. After it, no other was started. */
  readonly failure?: { readonly change: PlannedChange; readonly cause: unknown } | undefined
}

/** Groups changes that do not depend on each other. Groups keep their order. */
function groupsOf(changes: readonly PlannedChange[]): readonly (readonly PlannedChange[])[] {
  const groups: PlannedChange[][] = []
  for (const change of changes) {
    const group = groups.at(-1)
    const isRemoval = (each: PlannedChange | undefined) => each?.action === 'remove'
    const fits = group?.[0]?.kind === change.kind && isRemoval(group[0]) === isRemoval(change)
    if (fits && group !== undefined) group.push(change)
    else groups.push([change])
  }
  return groups
}

/**
 * Makes the changes of a plan, each only if its entry has the version that the plan has seen. A plan that ended in the
 * middle is continued by the next one, because changed entries need no further change.
 */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const { managers, keepSecret, onDone, runtime = webRuntime } = options
  const newSecret = (): string => runtime.base64url(runtime.randomBytes(32))
  const done: PlannedChange[] = []
  let failure: Applied['failure']

  async function make(change: PlannedChange): Promise<void> {
    const { kind, id, stored, next } = change
    const manager = kind.managerOf(managers)
    const version = stored?.version
    if (next === undefined) await manager.remove(id, { version })
    else if (stored !== undefined) await manager.replace(id, () => next.value, { version, tags: next.tags })
    else {
      const { value, secret } = kind.plan.complete?.(next.value, newSecret) ?? { value: next.value }
      if (secret !== undefined) keepSecret(change, secret)
      await manager.add(value, next.tags)
    }
  }

  async function attempt(change: PlannedChange): Promise<void> {
    try {
      await make(change)
    } catch (cause) {
      failure ??= { change, cause }
      throw cause
    }
    done.push(change)
    onDone?.(change)
  }

  try {
    for (const group of groupsOf(plan.changes)) await concurrently(group, attempt)
  } catch (thrown) {
    if (failure === undefined) throw thrown
  }
  return { done, failure }
}
